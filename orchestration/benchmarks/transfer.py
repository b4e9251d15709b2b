"""The table of all benchmarks other than the paper's two main ones."""

from __future__ import annotations

from orchestration.benchmarks.benchmark import Table
from orchestration.benchmarks.twin import COMPARED

TRANSFER = Table(
    name="transfer",
    title="Transfer to other benchmarks",
    about="Transfer: accuracy on the other benchmarks, beside published figures.",
    layout="by number",
    needs=(COMPARED,),
    trivial=("questions/last_word",),
)
