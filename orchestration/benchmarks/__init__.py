"""The benchmarks: pure functions on bytes and values, without a profile's paths, Spark or Dagster.

Open a small benchmark, :mod:`.babi`, beside :mod:`.benchmark`, whose classes build on each other: a source of
cases, a logger of them, and questions about them. A benchmark must give the attributes without a default; the
others add one thing each, such as possible logs or a page of the report. Each file knows only files above it:

- :mod:`.declared`: the parts of a declaration that know no case; :mod:`.benchmark`: all of a declaration;
- shared tables: :mod:`.real` of official data; :mod:`.transfer` of all benchmarks but the two main ones,
  CLEVRER and :mod:`.twin`, whose comparisons it shows;
- one file per benchmark: :mod:`.babi`, :mod:`.clevrer`, :mod:`.comphy`, :mod:`.gqa`; those of language models
  in :mod:`.baselines`;
- :mod:`.own_files`: a benchmark's answers to a user's own files.
"""
