"""The report: a folder of HTML pages with a run's tables, figures, answers, explanations and traces.

It opens from disk and loads nothing from outside the folder.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from orchestration.benchmarks.benchmark import BEYOND
from orchestration.lineage.explain import Each, each_here
from orchestration.lineage.number import Lineage
from orchestration.registry import BENCHMARKS
from orchestration.rendering.report import page
from orchestration.rendering.report.answers import Answers, write_answers
from orchestration.rendering.report.claims import write_claims
from orchestration.rendering.report.first_page import DRAWN, first_page
from orchestration.rendering.report.number_pages import Scores, write_numbers
from orchestration.rendering.report.part_cache import PartCache, cached_parts
from orchestration.rendering.report.scenes import write_scenes
from orchestration.rendering.report.states import write_states
from orchestration.rendering.wording import label
from orchestration.scoring.comparability import percent
from orchestration.scoring.scores import metrics_file, read_metrics
from orchestration.stage import Stages
from orchestration.workspace.folders import Workspace
from substrate.domains.smallville.experiment import HORIZON


def write_report(
    workspace: Workspace,
    out: Path,
    known: Stages | None = None,
    explain_cases: Each | None = None,
    cache: PartCache | None = None,
) -> dict[str, int]:
    """Write the report of a run to a new folder: its first page, and a page for each number, benchmark and
    scene.

    Args:
        known: the stages that it describes.
        explain_cases: makes what is shown of cases; in this process unless given.
        cache: the parts of earlier reports; those that this code made unless given.

    Returns:
        The counts of numbers, answers and explained answers.
    """
    lineage = Lineage(workspace, known or {})
    explain_cases = explain_cases or partial(each_here, workspace)
    cache = cache or PartCache(workspace.root, write_report)
    keep = cached_parts(workspace, known or {}, cache, out)
    out.mkdir()
    for name in page.SHARED:
        shutil.copyfile(page.HERE / name, out / name)
    # A baseline that was not run has no scores; files of benchmarks that left the profile do not count.
    profile = workspace.settings.profile
    own = [name for name, benchmark in BENCHMARKS.items() if benchmark.profile(profile) == profile]
    files = {name: workspace.artifacts / metrics_file(name) for name in own}
    scores = {name: {s.name: s for s in read_metrics(file)} for name, file in files.items() if file.is_file()}
    with ThreadPoolExecutor(1) as pool:  # the answers are made meanwhile
        gathered = pool.submit(first_page, workspace, scores, out)
        answered = write_answers(workspace, explain_cases, keep)
        videos = write_scenes(workspace, explain_cases, keep)
        first = gathered.result()
    write_numbers(lineage, scores, answered, out, cache)
    write_claims(profile, first.claims, first.measured, out)
    write_states(profile, first.worked, out)
    page.write_script(out / "search.js", "found", [*_sought(scores, answered)])
    shown = {"profile": profile, "BEYOND": BEYOND, "DRAWN": DRAWN, "HORIZON": HORIZON} | first._asdict()
    page.write_page(out, "index.html", "report.html.j2", answered=answered, videos=videos, **shown)
    cache.forget()
    return {
        "numbers": sum(map(len, scores.values())),
        "answers": sum(answers.count["answers"] for answers in answered),
        "answers with their steps": sum(answers.count["explained"] for answers in answered),
    }


def _sought(scores: Scores, answered: Iterable[Answers]) -> Iterator[tuple[str, str, int]]:
    """Yield for the search the text and page of each number, of kind 0, and of each page of answers, of 1."""
    for numbers in scores.values():
        for name, score in numbers.items():
            yield f"{label(name)} · {name}: {percent(score)}", page.number_page(name), 0
    for answers in answered:
        text = f"{answers.benchmark.title}: {answers.count['answers']:,} answers"
        yield text, page.answers_page(answers.benchmark.name), 1
