"""Dagster: stages as assets, checks, jobs, runs and the UI; every room but the commands stands below."""
