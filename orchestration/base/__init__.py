"""Tools for every room; each file is a tool of its own.

- a project: :mod:`.git`, :mod:`.project_lock`, :mod:`.yaml_text`, :mod:`.beyond` for the optional package;
- a run: :mod:`.progress` for any listener, :mod:`.stopping` by a signal, :mod:`.quiet` for Dagster's
  processes;
- the world outside: :mod:`.http` with retries, :mod:`.java`, :mod:`.secrets_out` of all output;
- text: :mod:`.templates`.
"""
