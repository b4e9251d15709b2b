"""Experiments: results under other parameters, beside the pinned ones, and their comparison.

Open :mod:`.experiment` first: it makes an experiment, from its beginning to its place among the finished
ones. :mod:`.comparison` compares two of them, or one with the pinned results.

The parent of an experiment is the project's own results in the same profile. Outs of the parent are taken,
byte for byte, where its ledger records the same code, parameters and inputs (`Made` in
:mod:`orchestration.ledger.manifest`); the experiment computes the others. One `Workspace` stands for both:
its field `experiment` is the experiment's folder, or ``None`` for the parent.
"""
