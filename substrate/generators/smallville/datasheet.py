"""The datasheet that goes with a file of specifications: ``datasheet.md``, its counts measured from the file.

Its questions are those of Gebru et al., Datasheets for Datasets (Communications of the ACM 64(12), 2021).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import combinations, product
from pathlib import Path

import msgspec

from substrate.base.files import replacing
from substrate.domains.smallville.format import INTERVENTIONS, LINKAGES, QUERIES
from substrate.generators.smallville.sampling import Graded

CANARY = "twin-eventlog canary 2fd30533-ddcc-53b4-b210-a66c8510df73"
"""Stands in every published file, so that a training set that holds one can be told by it."""

OUTCOMES: Mapping[int, Sequence[str]] = {
    2: ("yes yes", "no no", "yes no", "no yes"),
    3: tuple(" ".join(answers) for answers in product(("yes", "no"), repeat=3)),
}
"""The answers that specifications of so many arms can have."""


def write_specs(out: Path, lines: Iterable[str | bytes], seed: int, level: str = "village") -> None:
    """Write ``specs.jsonl`` and its ``DATASHEET.md`` to a folder.

    Args:
        out: the folder, made where it is absent.
        lines: the specifications as JSON, in order.
        seed: what they were generated from.
        level: at which, one of :data:`substrate.generators.smallville.LEVELS`.
    """
    specs = list(map(msgspec.json.Decoder(Graded).decode, lines))
    out.mkdir(parents=True, exist_ok=True)
    lines_of_specs = "".join(f"{msgspec.json.encode(spec).decode()}\n" for spec in specs)
    texts = {"specs.jsonl": lines_of_specs, "DATASHEET.md": datasheet(specs, seed, level)}
    for name, text in texts.items():
        with replacing(out / name) as fresh:
            fresh.write_text(text, "utf-8")


def datasheet(specs: Sequence[Graded], seed: int, level: str = "village") -> str:
    """The datasheet of some specifications of one level, as Markdown."""
    queries = [*QUERIES, *sorted({s.query.type for s in specs} - set(QUERIES))]
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
    golds = [s.gold.answers for s in specs]
    arms = max(map(len, golds), default=2)
    differing = sum(len(set(gold)) > 1 for gold in golds)
    said_yes = sum(gold.count("yes") for gold in golds)
    alike = [first == second for gold in golds for first, second in combinations(gold, 2)]
    acts = [(s.linkage, act.type) for s in specs for act in s.acts.values() if act]
    cast = {agent.id for s in specs for agent in s.village.agents}
    text = files("substrate.generators.smallville").joinpath("datasheet.md").read_text("utf-8")
    return text.format(
        title="" if level == "village" else f", level {level}",
        small="Schedules are" if level == "town" else "Villages are small and schedules",
        again=_again(len(specs), seed, level),
        checked=_checked(len(specs), level),
        n=len(specs),
        seed=seed,
        **_WORDS[arms],
        cells=_table("linkage", LINKAGES, queries, Counter((s.linkage, s.query.type) for s in specs)),
        types=_table("linkage", LINKAGES, INTERVENTIONS, Counter(acts)),
        golds=_table(
            "linkage, query",
            [f"{x}, {y}" for x in LINKAGES for y in queries],
            OUTCOMES[arms],
            Counter((f"{s.linkage}, {s.query.type}", " ".join(s.gold.answers)) for s in specs),
        ),
        differing=_share(differing, len(specs)),
        yes=_share(said_yes, arms * len(specs)),
        sizes="\n".join(
            f"| {name} | {_least(values, min)} | {sum(values) / max(len(values), 1):.1f} "
            f"| {_least(values, max)} |"
            for name, values in sizes.items()
        ),
        personas=len(cast),
        no=_share(arms * len(specs) - said_yes, arms * len(specs)),
        no_joint=_share(sum(set(gold) == {"no"} for gold in golds), len(specs)),
        no_divergence=_share(sum(alike), len(alike)),
    )


def _again(count: int, seed: int, level: str) -> str:
    """The command that makes the specifications again."""
    option = "" if level == "village" else f"--level {level} "
    made = f"substrate generate twin {option}--specs {count} --seed {seed} --out DIR"
    return f"`{made}` writes the same bytes again"


def _checked(count: int, level: str) -> str:
    """The test that compares the oracle with the replay."""
    if level == "village":
        return f"the pipeline checks that the two agree on all {2 * count} arms"
    return "tests hold that the two agree"


def _least(values: Sequence[int], which: Callable[[Sequence[int]], int]) -> int:
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


_WORDS: Mapping[int, Mapping[str, str]] = {
    2: {
        "gold_means": "`query` (with its English wording) and `gold` (the answer in arm A, without the\n"
        "intervention, and in arm B, with it)",
        "they_differ": "the two arms differ",
        "written": "A then B",
        "both": "both arms",
        "turns": "In direct and propagation the answers differ in three of four specifications, as often "
        "from yes to no as from no to yes. In the fourth they are the\nsame although the history changed.",
        "divergence": "whether it is\nrightly said that the arms differ",
    },
    3: {
        "gold_means": "`second` (another intervention at the same tick), `query` (with its English wording) "
        "and\n`gold` (the answer in arm A, without an intervention, in arm B, with the first, and in arm C, "
        "with the second)",
        "they_differ": "not all arms agree",
        "written": "A, B, C",
        "both": "all arms",
        "turns": "Each of the two interventions has the linkage, and they make different histories. In "
        "direct and propagation the eight combinations of answers come in\nturn, so each pair of arms "
        "differs in half of the specifications.",
        "divergence": "of each\npair of arms, whether it is rightly said that they differ",
    },
}
"""The page's words for two arms and for three."""
