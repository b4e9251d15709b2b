"""Questions asked twice, of two arms: which benchmarks have them, and how a pair is judged."""

from __future__ import annotations

from substrate.domains.smallville.judging import ANSWERS, WEIGHTS, Judgement, judge

__all__ = ["ANSWERS", "PAIRED", "WEIGHTS", "Judgement", "judge"]

PAIRED = ("twin", "twin_direct", "twin_concordia")
"""Benchmarks whose rows come in pairs of one scene: the substrate, and the language models beside it."""
