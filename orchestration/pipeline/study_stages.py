"""The stages of studies: rows under every condition, and what is drawn from them."""

from __future__ import annotations

import csv
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from orchestration.pipeline.cases import answer_cases, cases_of
from orchestration.rendering.figures import Fall, Point, fall, reliability_diagram
from orchestration.rendering.robustness import FALLS, HEADS, TABLE, in_words, lines_of, table_of
from orchestration.rendering.tables import FORMATS
from orchestration.stage import Run, Stage
from orchestration.studies import ablations, determinism, reliability
from orchestration.studies.determinism import Repetition
from orchestration.studies.robustness import KEY, PERTURBED, ROBUSTNESS, Perturbed, named, rows_file
from orchestration.studies.study import Part, Shares, Study, counted, shares_file, totals
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import files_of, kind_of
from orchestration.workspace.tables import read_cases
from substrate.base.files import sha256, write_json

Draw = Callable[..., dict[str, Any]]
"""Draws files from rows: takes the path of the rows and that of each file, and says what it drew."""
_CAPTION = (
    "Robustness: the first cases of each benchmark asked again on input that is made inexact, by seed {seed} "
    "(profile {profile}); accuracy per question, intervals Wilson, 95 %. The gold is that of the input as it "
    "is; that of another world is its own simulation's."
)


def study_stages(study: Study) -> Iterator[Stage]:
    """A stage for each part of a study."""
    draw = DRAWN.get(study.name)
    for part in study.parts:
        base = part.base
        yield Stage(
            f"{study.name}/{part.name}",
            (part.file, *part.shown),
            partial(make_rows, study, part, draw),
            part.about,
            needs=(f"{base.source.name}/dataset", f"{base.logger.name}/logs"),
            parameters=study.keys(part),
            functions=(base.source.cases, base.logger.logs, part.rows, *part.calls),
            kinds=("spark", "rdf"),
        )


def asked_of(study: Study, part: Part, workspace: Workspace) -> int | None:
    """The number of cases that a part asks; ``None`` for all."""
    return getattr(study.parameters.of(workspace.settings), part.first) if part.first else None


def make_rows(
    study: Study, part: Part, draw: Draw | None, workspace: Workspace, out: Path, *shown: Path
) -> dict[str, Any]:
    """Ask a benchmark under every condition, and draw what is shown of the rows."""
    stage, first = f"{study.name}/{part.name}", asked_of(study, part, workspace)
    said: dict[str, Any] = {}
    if first == 0 or not files_of(workspace, part.base.source):
        out.touch()
        said["not measured"] = "no case is asked for" if first == 0 else "no data"
    else:
        rows = partial(part.rows, workspace.settings.seed) if part.seeded else part.rows
        answer_cases(workspace, part.base, stage, out, rows=rows, first=first)
        said["rows"] = sum(totals(counted(out)).values())
    return said | (draw(out, *shown) if draw else {})


def draw_curves(rows: Path, out: Path) -> dict[str, Any]:
    """Count the rows at every point of every curve."""
    counts = defaultdict(Counter[bool], counted(rows))
    drawn: list[dict[str, Any]] = []
    for curve in ablations.CURVES:
        series: list[dict[str, Any]] = []
        for value in curve.values:
            found = [
                (point, counts.get(curve.variant(point, value).name, Counter())) for point in curve.points
            ]
            points = [(point, count[True], count.total()) for point, count in found]
            series.append({"name": f"{curve.standing} {value:g}", "points": points})
        about = {"name": curve.name, "x_label": curve.x_label, "y_label": "accuracy per question"}
        drawn.append({**about, "series": series})
    write_json(out, drawn, indent=1)
    return {"variants": len(ablations.POINTS)}


def draw_reliability(rows: Path, bins: Path, figure: Path) -> dict[str, Any]:
    """Put probabilities into bins, and hold beside each how many choices were right."""
    said = [msgspec.json.decode(line, type=reliability.Chance) for line in rows.read_bytes().splitlines()]
    found = [
        reliability.reliability_of(subset, (one for one in said if one.subset == subset))
        for subset in (*reliability.SUBSETS, *reliability.EVENTS)
        if any(one.subset == subset for one in said)
    ]
    write_json(bins, found, indent=1)
    series = {one.subset: one.bins for one in found}
    figure.write_text(reliability_diagram("reliability", series, alone=True), "utf-8")
    return {one.subset: in_words(one) for one in found}


DRAWN: Mapping[str, Draw] = {
    ablations.STUDY.name: draw_curves,
    reliability.RELIABILITY.name: draw_reliability,
}
"""The figures of each part of a study, drawn from its rows, by the study's name."""


def determinism_stage() -> Stage:
    """The same answers in several ways."""
    base = determinism.BASE
    return Stage(
        "ablations/determinism",
        ("artifacts/{profile}/ablations/determinism.json",),
        make_determinism,
        "The same answers computed twice, in two numbers of partitions and under two hash seeds, with the "
        "hash of each.",
        needs=(f"{base.source.name}/dataset", f"{base.logger.name}/logs"),
        parameters=base.keys,
        functions=(base.source.cases, base.logger.logs, base.rows, determinism.main),
        kinds=("spark", "rdf"),
    )


def make_determinism(workspace: Workspace, out: Path) -> dict[str, Any]:
    """Compute the same answers in every way, and hold the hashes side by side."""
    found = list(repetitions(workspace)) if files_of(workspace, determinism.BASE.source) else []
    write_json(out, found, indent=1)
    return {"distinct hashes": len({run.sha256 for run in found})}


def repetitions(workspace: Workspace) -> Iterator[Repetition]:
    """Two runs of Spark, two numbers of partitions, and two interpreters with hash seeds of their own."""
    base, stage, first = determinism.BASE, "ablations/determinism", determinism.SCENES
    with tempfile.TemporaryDirectory(prefix="substrate-") as folder:
        out = Path(folder) / "answers.jsonl"
        for how, tasks in determinism.WAYS.items():
            answer_cases(workspace, base, stage, out, split=determinism.SPLIT, tasks=tasks, first=first)
            yield Repetition(how, len(out.read_bytes().splitlines()), sha256(out))
    cases = read_cases(workspace.storage, cases_of(workspace, base.source, stage))
    logs = workspace.logs(base.logger.name)
    scenes = [(case, logs.patch(f"{case.scene:05d}")) for case in islice(cases, first)]
    yield from determinism.in_processes(base.parameters.of(workspace.settings), scenes)


def robustness_stage() -> Stage:
    """The table and the figures of how fast each benchmark falls."""
    outs = [*(f"{TABLE}.{suffix}" for suffix in (*FORMATS, "csv")), FALLS]
    outs += (f"artifacts/{{profile}}/{KEY}/{name}.svg" for name in PERTURBED)
    about = (
        "How fast each benchmark falls: right and asked under each condition with Wilson's interval, and a "
    )
    return _table_stage(ROBUSTNESS, outs, make_table, f"{about}figure each.")


def _table_stage(study: Study, outs: Iterable[str], run: Run, about: str) -> Stage:
    rows = [f"{study.name}/{part.name}" for part in study.parts]
    data = [f"{part.base.source.name}/dataset" for part in study.parts]
    needs = tuple(dict.fromkeys([*rows, *data]))
    return Stage(f"tables/{study.name}", tuple(outs), run, about, needs=needs, parameters=("seed",))


def make_table(workspace: Workspace, *outs: Path) -> dict[str, Any]:
    """Count the rows, and show the counts."""
    falls, settings = [_fall(one, workspace) for one in PERTURBED.values()], workspace.settings
    caption = _CAPTION.format(seed=settings.seed, profile=settings.profile)
    *texts, lines, counts = outs[: len(FORMATS) + 2]
    rows = _tabulated(workspace, falls, ROBUSTNESS, caption, HEADS, texts)
    with lines.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(lines_of(falls))
    write_json(counts, falls, indent=1)
    for one, out in zip(falls, outs[len(FORMATS) + 2 :], strict=True):
        out.write_text(fall(f"fall-{one.name}", one, alone=True), "utf-8")
    return {"conditions": rows}


def _tabulated(
    workspace: Workspace,
    falls: Sequence[Fall],
    study: Study,
    caption: str,
    heads: Sequence[str],
    outs: Sequence[Path],
) -> int:
    """Write a study's table in each format; gives how many rows it has."""
    sources = dict.fromkeys(
        f"{part.base.source.title} {kind_of(workspace, part.base.source)}" for part in study.parts
    )
    table = table_of(falls, f"{caption} Measured on: {', '.join(sources)}.", heads)
    for suffix, out in zip(FORMATS, outs, strict=True):
        out.write_text(table.render(suffix), "utf-8")
    return len(table.rows)


def _fall(perturbed: Perturbed, workspace: Workspace) -> Fall:
    name = perturbed.base.name
    counts = counted(workspace.path(rows_file(name)))
    points: list[Point] = []
    for setting, condition in perturbed.pairs():
        found = counts.get(named(setting, condition), Counter[bool]())
        points.append(Point(setting, condition.label, found.total(), found[True]))
    return Fall(name, perturbed.base.title, points)


def shares_stage(study: Study, shares: Shares) -> Stage:
    """The table of a study's shares."""
    outs = (f"{shares_file(study)}.{suffix}" for suffix in FORMATS)
    about = f"{shares.title}: counts, shares and Wilson's interval, a row for each thing that was counted."
    return _table_stage(study, outs, partial(make_shares, study, shares), about)


def make_shares(study: Study, shares: Shares, workspace: Workspace, *outs: Path) -> dict[str, Any]:
    """Count a study's rows by setting and condition."""
    falls: list[Fall] = []
    for part in study.parts:
        found = counted(workspace.path(part.file)).items()
        counts = {(subset.partition(": ")[0], subset.partition(": ")[2]): count for subset, count in found}
        order = list(shares.conditions) or list(dict.fromkeys(condition for _, condition in counts))
        points: list[Point] = []
        for setting in dict.fromkeys(setting for setting, _ in counts):
            here = {c: counts[setting, c] for c in order if (setting, c) in counts}
            pool = sum(count.total() for count in here.values())
            points += [
                Point(setting, c, pool if shares.pooled else count.total(), count[True])
                for c, count in here.items()
            ]
        falls.append(Fall(part.name, part.base.title, points))
    return {"rows": _tabulated(workspace, falls, study, shares.caption, shares.heads, outs)}
