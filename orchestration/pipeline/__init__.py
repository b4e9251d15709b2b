"""Stages and their graph, Spark, jobs and checks; this room uses every other room except the commands."""
