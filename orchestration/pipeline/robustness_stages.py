"""How fast each benchmark falls where its input is not exact: rows, a table, a figure each."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from orchestration.benchmarks.clevrer import CLEVRER
from orchestration.files import write_json
from orchestration.named import files_of, kind_of
from orchestration.pipeline.cases import answer_cases
from orchestration.rendering.figures import Fall, Point, fall, reliability_diagram
from orchestration.rendering.robustness import FALLS, RELIABILITY, TABLE, in_words, lines_of, table_of
from orchestration.rendering.tables import FORMATS
from orchestration.stage import Stage
from orchestration.studies import reliability
from orchestration.studies.robustness import KEY, PERTURBED, Perturbed, named, rows
from orchestration.workspace import Workspace
from substrate.domains.rows import decode

_CAPTION = (
    "Robustness: the first cases of each benchmark asked again on input that is made inexact, by seed {seed} "
    "(profile {profile}); accuracy per question, intervals Wilson, 95 %. The gold is that of the input as it "
    "is; that of another world is its own simulation's. Measured on: {sources}."
)


def robustness_stages() -> Iterator[Stage]:
    """A stage of rows for each benchmark, and one of what shows them."""
    for name, perturbed in PERTURBED.items():
        base = perturbed.base
        yield Stage(
            f"{KEY}/{name}",
            (rows_file(name),),
            partial(make_rows, name),
            f"{base.title}: a row for each question of the first cases, under each condition in which the "
            "input is not exact.",
            needs=(f"{base.source.name}/dataset", f"{base.logger.name}/logs"),
            parameters=("seed", f"{KEY}.{name}", *base.keys),
            functions=(base.source.cases, base.logger.logs, rows),
            kinds=("spark", "rdf"),
        )
    yield Stage(
        f"tables/{KEY}",
        (
            *(f"{TABLE}.{suffix}" for suffix in (*FORMATS, "csv")),
            FALLS,
            *(f"artifacts/{{profile}}/{KEY}/{name}.svg" for name in PERTURBED),
        ),
        make_table,
        "How fast each benchmark falls: right and asked under each condition with Wilson's interval, and a "
        "figure each.",
        needs=(
            *(f"{KEY}/{name}" for name in PERTURBED),
            *(f"{one.base.source.name}/dataset" for one in PERTURBED.values()),
        ),
        parameters=("seed",),
    )


def reliability_stage() -> Stage:
    """What probabilities are worth that an ensemble of forks says of answers about imagined worlds."""
    return Stage(
        "reliability/clevrer",
        (
            "artifacts/{profile}/reliability/clevrer.jsonl",
            RELIABILITY,
            "artifacts/{profile}/reliability/clevrer.svg",
        ),
        make_reliability,
        "The probability of each choice about a world that was not filmed, beside whether it is correct: "
        "rows, bins with the Brier score, and the reliability diagram.",
        needs=("clevrer/dataset", "clevrer/logs"),
        parameters=("clevrer", f"{KEY}.reliability"),
        functions=(CLEVRER.source.cases, CLEVRER.logger.logs, reliability.rows),
        kinds=("spark", "rdf"),
    )


def make_reliability(workspace: Workspace, out: Path, bins: Path, figure: Path) -> dict[str, Any]:
    """Say how probable the choices about the first scenes are, and hold gold beside it."""
    first = workspace.settings.of(KEY).reliability
    if first and files_of(workspace, CLEVRER.source):
        answer_cases(workspace, CLEVRER, "reliability/clevrer", out, rows=reliability.rows, first=first)
    else:
        out.touch()
    said = [msgspec.json.decode(line, type=reliability.Chance) for line in out.read_bytes().splitlines()]
    found = [
        reliability.reliability_of(subset, (one for one in said if one.subset == subset))
        for subset in reliability.SUBSETS
    ]
    write_json(bins, found, indent=1)
    series = {one.subset: one.bins for one in found if one.n}
    figure.write_text(reliability_diagram("reliability", series, alone=True), "utf-8")
    return {one.subset: in_words(one) for one in found}


def rows_file(name: str) -> str:
    """The path of a benchmark's rows."""
    return f"artifacts/{{profile}}/{KEY}/{name}.jsonl"


def make_rows(name: str, workspace: Workspace, out: Path) -> dict[str, Any]:
    """Ask the first cases of a benchmark again, under each condition."""
    base, first = PERTURBED[name].base, getattr(workspace.settings.of(KEY), name)
    if not first or not files_of(workspace, base.source):
        out.touch()
        return {"not measured": "no data" if first else "no case is asked for"}
    work = partial(rows, name, workspace.settings.seed)
    answer_cases(workspace, base, f"{KEY}/{name}", out, rows=work, first=first)
    return {"rows": sum(found.total() for found in counted(out).values())}


def counted(path: Path) -> dict[str, Counter[bool]]:
    """Right and wrong rows by subset; rows without gold are left out."""
    found: dict[str, Counter[bool]] = {}
    with path.open("rb") as file:
        for line in file:
            row = decode(line)
            if row.correct is not None:
                found.setdefault(row.subset, Counter())[row.correct] += 1
    return found


def make_table(workspace: Workspace, *outs: Path) -> dict[str, Any]:
    """Count the rows, and show the counts."""
    falls = [_fall(one, workspace) for one in PERTURBED.values()]
    sources = ", ".join(
        f"{one.base.source.title} {kind_of(workspace, one.base.source)}" for one in PERTURBED.values()
    )
    settings = workspace.settings
    table = table_of(falls, _CAPTION.format(seed=settings.seed, profile=settings.profile, sources=sources))
    *texts, lines, counts = outs[: len(FORMATS) + 2]
    for suffix, out in zip(FORMATS, texts, strict=True):
        out.write_text(table.render(suffix), "utf-8")
    with lines.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines_of(falls))
    write_json(counts, falls, indent=1)
    for one, out in zip(falls, outs[len(FORMATS) + 2 :], strict=True):
        out.write_text(fall(f"fall-{one.name}", one, alone=True), "utf-8")
    return {"conditions": len(table.rows)}


def _fall(perturbed: Perturbed, workspace: Workspace) -> Fall:
    name = perturbed.base.name
    counts = counted(workspace.path(rows_file(name)))
    points: list[Point] = []
    for setting, condition in perturbed.pairs():
        found = counts.get(named(setting, condition), Counter[bool]())
        points.append(Point(setting, condition.label, found.total(), found[True]))
    return Fall(name, perturbed.base.title, points)
