"""The datasheet of a file of specifications: ``DATASHEET.md``, the template ``datasheet.md`` with its counts.

Its questions are those of Gebru et al., Datasheets for Datasets (Communications of the ACM 64(12), 2021).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files
from pathlib import Path

import msgspec

from substrate.base.files import replacing
from substrate.domains.smallville.format import INTERVENTIONS, LINKAGES, QUERIES
from substrate.generators.smallville.sampling import Graded

CANARY = "twin-eventlog canary 2fd30533-ddcc-53b4-b210-a66c8510df73"
"""A mark in the metadata of each Inspect task: a training set that contains it has read such a task."""

OUTCOMES = ("yes yes", "no no", "yes no", "no yes")
"""The answers that a specification can have."""


def write_specs(out: Path, lines: Iterable[str | bytes], seed: int) -> None:
    """Write ``specs.jsonl`` and its ``DATASHEET.md`` to a folder.

    Args:
        out: the folder, made if absent.
        lines: the specifications as JSON, in order.
        seed: the seed from which they were generated.
    """
    specs = list(map(msgspec.json.Decoder(Graded).decode, lines))
    out.mkdir(parents=True, exist_ok=True)
    lines_of_specs = "".join(f"{msgspec.json.encode(spec).decode()}\n" for spec in specs)
    texts = {"specs.jsonl": lines_of_specs, "DATASHEET.md": datasheet(specs, seed)}
    for name, text in texts.items():
        with replacing(out / name) as fresh:
            fresh.write_text(text, "utf-8")


def datasheet(specs: Sequence[Graded], seed: int) -> str:
    """The datasheet of some specifications, as Markdown."""
    sizes = {
        "agents": [len(s.village.agents) for s in specs],
        "places": [len(s.village.places) for s in specs],
        "facts": [len(s.village.facts) for s in specs],
        "plans of all agents": [sum(len(a.plans) for a in s.village.agents) for s in specs],
        "of these, plans that depend on a fact": [
            sum(p.if_knows is not None for a in s.village.agents for p in a.plans) for s in specs
        ],
        "horizon": [s.village.horizon for s in specs],
        "branch tick": [s.branch for s in specs],
    }
    n, golds = len(specs), [s.gold.answers for s in specs]
    differing = sum(a != b for a, b in golds)
    said_yes = sum(gold.count("yes") for gold in golds)
    cast = {agent.id for s in specs for agent in s.village.agents}
    text = files("substrate.generators.smallville").joinpath("datasheet.md").read_text("utf-8")
    return text.format(
        n=n,
        seed=seed,
        arms=2 * n,
        cells=_table("linkage", LINKAGES, QUERIES, Counter((s.linkage, s.query.type) for s in specs)),
        types=_table(
            "linkage", LINKAGES, INTERVENTIONS, Counter((s.linkage, s.intervention.type) for s in specs)
        ),
        golds=_table(
            "linkage, query",
            [f"{x}, {y}" for x in LINKAGES for y in QUERIES],
            OUTCOMES,
            Counter((f"{s.linkage}, {s.query.type}", " ".join(s.gold.answers)) for s in specs),
        ),
        differing=_share(differing, n),
        yes=_share(said_yes, 2 * n),
        sizes="\n".join(
            f"| {name} | {_extreme(values, min)} | {sum(values) / max(len(values), 1):.1f} "
            f"| {_extreme(values, max)} |"
            for name, values in sizes.items()
        ),
        personas=len(cast),
        # What a method gets right that always says no: arms, joint answers, divergences
        no=_share(2 * n - said_yes, 2 * n),
        no_joint=_share(golds.count(("no", "no")), n),
        no_divergence=_share(n - differing, n),
    )


def _extreme(values: Sequence[int], which: Callable[[Sequence[int]], int]) -> int:
    return which(values or [0])


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / max(whole, 1):.1%})"


def _table(corner: str, down: Sequence[str], across: Sequence[str], counts: Counter[tuple[str, str]]) -> str:
    lines = [
        [corner, *across],
        ["---"] * (1 + len(across)),
        *([row, *(str(counts[row, column]) for column in across)] for row in down),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
