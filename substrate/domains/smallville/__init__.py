"""Smallville: a village in which news spreads, and the effect of a person who does not pass it on.

Begin with ``format.py``: the docstring of :class:`Village` gives the rules of a tick in words, and
``tboxes/village.ttl`` has them in SPARQL. Then read ``twin.py``, which makes the village's log, forks its two
arms and decides the answer of each. ``joint.py`` compares both answers with the gold: each arm, both jointly,
and whether they differ. ``twin_explain.py`` explains an arm's answer, ``picture.py`` draws an arm, and
``experiment.py`` sets both arms side by side for a page.
"""
