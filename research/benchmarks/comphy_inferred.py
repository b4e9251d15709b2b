"""ComPhy with mass and charge inferred from the reference videos, and motion simulated."""

from __future__ import annotations

from orchestration.benchmarks.comphy import setting
from research.benchmarks import GENERATED

COMPHY_INFERRED = setting(
    "comphy_inferred",
    "ComPhy, mass and charge inferred",
    1,
    "One event log a target, with mass and charge as the reference videos show them.",
    {
        "answers": "A row a question with mass and charge inferred and motion simulated.",
        "scores": "Accuracy of each subset with hidden properties inferred, with Wilson's interval.",
    },
    examples={"ComPhy, hidden properties inferred": "factual"},
    profiles=GENERATED,
)
