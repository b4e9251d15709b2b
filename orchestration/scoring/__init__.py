"""Counts, pairs, statistics, published numbers; this room knows rows and numbers, but no benchmark.

Where to start: :mod:`.names` reads the name of a number, a figure or a subset. :mod:`.counting` counts rows
for a number, :mod:`.scores` keeps the counts with their interval, :mod:`.statistics` compares two of them,
and :mod:`.formatting` prints them. :mod:`.published` reads the figures of the paper and its rivals,
:mod:`.comparability` says which of them stand beside a number. :mod:`.claims` declares what the paper
asserts, :mod:`.relations` measures it, and :mod:`.verdict` decides. :mod:`.trivial` measures the methods that
read no scene.

The files depend on each other in this order: names and statistics; counting, formatting and published; scores
and trivial; comparability and claims; relations; verdict.
"""
