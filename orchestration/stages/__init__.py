"""The stages, their graph, and which of them are up to date; values and functions, run by `dagster`.

Where to start: :mod:`.graph` lists the stages of all profiles. :mod:`.benchmark_stages`,
:mod:`.model_stages`, :mod:`.study_stages` and :mod:`.result_stages` declare them. In a run,
:mod:`.standing` decides whether a stage is computed, and :mod:`.making` computes it.
"""
