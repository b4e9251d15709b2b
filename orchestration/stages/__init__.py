"""The stages, their graph, and which of them are computed; values and functions, run by `dagster`.

Open :mod:`.graph` first: it lists the stages of each profile. Each file knows only files above it:

- the stages: :mod:`.benchmark_stages` from data to scores, :mod:`.model_stages` of language models,
  :mod:`.study_stages`, and :mod:`.result_stages`, which show what the others made;
- :mod:`.graph`: all of them, by profile;
- a stage in a run: :mod:`.decision` to reuse it or not, :mod:`.making` of its outs; :mod:`.generated_data`
  for a run of a single stage;
- :mod:`.nothing_to_do`: whether any file has changed since the last run, asked before the graph is loaded.
"""
