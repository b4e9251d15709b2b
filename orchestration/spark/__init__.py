"""Spark: its session, its workers, and the tables that they read and write; no stage and no Dagster.

Where to start:

- the machine: :mod:`.session` starts Spark, :mod:`.java` finds and diagnoses Java, :mod:`.cluster` checks a
  cluster;
- the work: :mod:`.workers` runs a function over rows, :mod:`.parts` writes its results as files of a table;
- the tables: :mod:`.cases` of scenes and questions, :mod:`.logs` of their event logs, :mod:`.answers` of the
  rows that follow; :mod:`.all_logs` asks all logs at once.
"""
