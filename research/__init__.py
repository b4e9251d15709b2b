"""Beyond the paper: more benchmarks, studies, generated data and exporters.

This package has the shape of the two packages below it and imports both; neither imports it. The paper's
reproduction runs without it.
"""
