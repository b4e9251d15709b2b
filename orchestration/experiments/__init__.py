"""Experiments: results under other parameters, beside the pinned ones, and their comparison.

Open :mod:`.experiment` first: it makes an experiment, from its beginning to its place among the finished
ones. :mod:`.comparison` compares two of them, or one with the pinned results.
"""
