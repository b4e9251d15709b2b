"""Beyond the paper: more benchmarks, studies, generated data and exporters.

It has the shape of the two packages below it and imports both; neither imports it. Without it the paper's
reproduction runs to its end.
"""
