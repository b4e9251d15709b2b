"""Spark: its session, its workers, and the tables that they read and write; no stage and no Dagster.

A table is a folder of files in the storage, which holds rows. The words of the room:

- a *case* is a scene, story or image, and has the *number* that it has in the table of cases; every row made
  from it has the same number;
- the *place* of a row is its position among the rows of one case, such as the second log of a scene;
- a *shard* is one file of a table, counted from 0; a task of Spark computes a shard;
- *parts* are the shards of a table that is being made, with the work that makes their rows.

Open :mod:`.workers` first, then :mod:`.parts` and :mod:`.answers`. Each file knows only files above it:

- the machine: :mod:`.java` finds and diagnoses Java, :mod:`.endpoint` is the place where Spark runs;
- the session: :mod:`.session` starts Spark and sends it the :mod:`.shipped_code`; :mod:`.errors` brings
  errors of workers to the driver;
- the work: :mod:`.workers` runs a function over rows, :mod:`.parts` writes its results as files of a table;
- the tables: :mod:`.scenes` that are generated, :mod:`.cases` of scenes and questions, :mod:`.logs` of their
  events, :mod:`.answers` of the rows that follow;
- beside stages: :mod:`.all_logs` asks all logs at once, :mod:`.cluster` checks a cluster.
"""
