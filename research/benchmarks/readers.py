"""More language models than the paper's: one that reasons, two that use tools, one that reads less."""

from __future__ import annotations

from functools import partial

from orchestration.benchmarks import baselines
from research.baselines.agent import acting
from research.baselines.reading import facts, reasoned
from research.baselines.village_tools import SEARCH, SUBSTRATE
from research.benchmarks import GENERATED

of_twin = partial(baselines.of_twin, profiles=GENERATED)

CONTROLLED_FACTS = baselines.of_logs(
    "controlled_facts", "the same log without its poses", 8, facts, GENERATED
)
TWIN_REASONED = of_twin("twin_reasoned", "a language model that reasons before it answers", 9, reasoned)
TWIN_WITH_SEARCH = of_twin(
    "twin_with_search",
    "a language model that searches the village's sentences",
    10,
    partial(acting, memory=SEARCH),
    "a language model that searches the village's sentences (BM25) before it answers",
)
TWIN_WITH_SUBSTRATE = of_twin(
    "twin_with_substrate",
    "a language model with the substrate",
    11,
    partial(acting, memory=SUBSTRATE),
    "a language model that asks states and forks of the village's event log before it answers",
)
