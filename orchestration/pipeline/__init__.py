"""Stages and their graph, Spark, jobs and checks; it knows every room but the commands."""
