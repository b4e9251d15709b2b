"""Beyond the paper: more benchmarks, studies, generated data and exporters.

This package has the rooms of `substrate` and `orchestration` and imports both; neither imports it. The
paper's reproduction runs without it.
"""
