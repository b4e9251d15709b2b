"""The report's page of each number: its trace, and its wrong answers by fault."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

from orchestration.lineage.number import Lineage, trace_number
from orchestration.registry import BENCHMARKS
from orchestration.rendering.report.answers import Answers, WrongAnswer
from orchestration.rendering.report.page import NAMED, answers_page, number_page, write_page
from orchestration.rendering.report.part_cache import PartCache
from orchestration.scoring.names import MEAN
from orchestration.scoring.scores import Score

# The scores by benchmark and number; benchmarks without scores are left out.
Scores = Mapping[str, Mapping[str, Score]]


def write_numbers(
    lineage: Lineage, scores: Scores, answered: Iterable[Answers], out: Path, cache: PartCache
) -> None:
    """Write a page for each number, with its trace and its wrong answers; a benchmark's pages are a part."""
    known, profile = {of.benchmark.name: of.wrong for of in answered}, lineage.workspace.settings.profile

    def write(benchmark: str, folder: Path) -> None:
        (folder / "numbers").mkdir(exist_ok=True)
        for number in scores[benchmark]:
            trace = trace_number(lineage, number, named=NAMED)
            subset = "" if trace.score.subset == MEAN else trace.score.subset
            faults = by_fault(trace.rows.wrong if trace.rows else [], known.get(benchmark, {}))
            answers = f"../{answers_page(benchmark)}" if benchmark in known else "../index.html"
            content = {"profile": profile, "title": BENCHMARKS[benchmark].title, "trace": trace}
            # An answer with the wrong facts may still be right.
            content |= {"subset": subset, "filtered": trace.score.metric != "supporting"}
            content |= {"faults": faults, "answers": answers}
            write_page(folder, number_page(number), "number.html.j2", **content)

    for benchmark, numbers in scores.items():
        # A trace has the hashes of the rows and logs; if it has problems, they are not those of the files.
        traces = [trace_number(lineage, number, rows=False) for number in numbers]
        if not any(trace.problems for trace in traces):
            cache.part(("numbers", known.get(benchmark), traces), partial(write, benchmark), out)
        else:
            write(benchmark, out)


def by_fault(
    keys: Iterable[str], known: Mapping[str, WrongAnswer]
) -> list[tuple[str, list[tuple[str, WrongAnswer]]]]:
    """Group answers by their fault, the largest group first; each with its key."""
    groups: dict[str, list[tuple[str, WrongAnswer]]] = {}
    for key in keys:
        not_facts = WrongAnswer(key, "", "right, but not from the facts that the key names")
        wrong = known.get(key, not_facts)
        groups.setdefault(wrong.fault, []).append((key, wrong))
    return sorted(groups.items(), key=lambda group: -len(group[1]))
