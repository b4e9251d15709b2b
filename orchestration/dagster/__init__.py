"""Dagster: stages as assets, checks, jobs, runs and the UI; every room but the commands stands below.

Open :mod:`.assets` first: it makes a stage an asset. Each file knows only files above it in this list:

- Dagster's records: :mod:`.own_runs` finds this project's runs in them, :mod:`.instance` opens them;
- the names in them: :mod:`.keys` of stages, :mod:`.run_tags` of runs;
- the life of a run: :mod:`.resources`; :mod:`.unconfigured` has what else Dagster gives to a run;
- the contents of a run: :mod:`.assets` with their :mod:`.previews`, :mod:`.checks` with the
  :mod:`.pin_checks`;
- the start of a run: :mod:`.run` from a command; :mod:`.jobs` from the UI, whose launch form is :mod:`.form`;
- the UI: :mod:`.webserver`, with :mod:`.daemon` beside it.
"""
