"""Spark: its session, its workers, and the tables that they read and write; no stage and no Dagster."""
