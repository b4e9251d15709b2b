"""Dagster: stages as assets, checks, jobs, runs and the UI; every room but the commands stands below.

Where to start:

- declared for Dagster: :mod:`.assets` from stages, under the names of :mod:`.keys`, with :mod:`.checks`,
  :mod:`.previews` and :mod:`.jobs`; :mod:`.form` is what the UI's launch form accepts;
- a run: :mod:`.run` starts it from a command, :mod:`.resources` opens the project for it, :mod:`.instance`
  opens Dagster's records, in which :mod:`.own_runs` finds this project's runs;
- the UI: :mod:`.webserver`, with :mod:`.daemon` beside it.
"""
