"""Pages of single scenes, for benchmarks that offer them: perceived objects, questions and their steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

from orchestration.benchmarks.benchmark import Case, Explained, Logs, ScenePages
from orchestration.lineage.explain import Each, by_scene, explain_case
from orchestration.registry import EXPLAINED
from orchestration.rendering.report.examples import WorkedExample
from orchestration.rendering.report.page import RIGHT, answers_page, templates
from orchestration.rendering.report.part_cache import Keep
from orchestration.rendering.report.shown_rows import first_rows
from orchestration.scoring.counting import rows_of
from orchestration.workspace.folders import Workspace
from substrate.domains.rows import Row

# A page: its ``scene``, its ``place``, and its ``wrong`` answers, also by the ``stages`` that lost them.
_ScenePage = dict[str, Any]


def write_scenes(workspace: Workspace, explain_cases: Each, keep: Keep) -> list[_ScenePage]:
    """Write the pages of all benchmarks that give some and have answers."""
    profile, written = workspace.settings.profile, list[_ScenePage]()
    for benchmark in EXPLAINED.values():
        file = workspace.answers(benchmark.name)
        for pages in benchmark.pages if file.is_file() and file.stat().st_size else ():
            make = partial(_write, explain_cases, benchmark, pages, profile, file)
            written += keep(pages.folder, benchmark, make)
    return written


def _write(
    explain_cases: Each, benchmark: Explained, pages: ScenePages, profile: str, file: Path, out: Path
) -> list[_ScenePage]:
    (out / pages.folder).mkdir()
    rows_by_scene, written = by_scene(_chosen(file, pages.most)), list[_ScenePage]()
    work = partial(scene_page, benchmark, pages, profile, rows_by_scene)
    for page, text in explain_cases(benchmark, rows_by_scene, work):
        written.append(page)
        (out / page["place"]).write_text(text, "utf-8")
    return written


def scene_page(
    benchmark: Explained,
    pages: ScenePages,
    profile: str,
    rows: Mapping[str, Sequence[Row]],
    case: Case,
    logs: Logs,
    parameters: Any,
    _: str,
) -> Iterator[tuple[_ScenePage, str]]:
    """Make a case's page and its text; none if no row has an explanation."""
    explained = list(explain_case(benchmark, rows, case, logs, parameters))
    if not explained:
        return
    scene, view = int(case.scene), pages.shown(case, parameters, [answer.row for answer in explained])
    examples = [
        WorkedExample(benchmark.answer_name(row), why, row, view.picture, (), telling=False)
        for row, _, why in explained
    ]
    asked = [(text, loss, example) for example, (text, loss) in zip(examples, view.asked, strict=True)]
    stages = Counter(loss[0] for _, loss in view.asked if loss)
    wrong = sum(answer.row.correct is False for answer in explained)
    content = {"profile": profile, "answers": answers_page(benchmark.name)}
    content |= {"scene": scene, "timeline": view.picture, "asked": asked, "up": "../", **view.content}
    place = f"{pages.folder}/{scene:05d}.html"
    page = {"scene": scene, "place": place, "wrong": wrong, "stages": stages}
    yield page, templates().from_string(view.template.read_text("utf-8")).render(content)


def _chosen(file: Path, most: int) -> list[Row]:
    """The wrong rows of the first scenes that have some, and the first other rows of each."""
    rows = list(rows_of(file))
    wrong = dict.fromkeys(row.scene for row in rows if row.correct is False)
    scenes = {*islice(wrong | dict.fromkeys(row.scene for row in rows), most)}
    of_scenes = (row for row in rows if row.scene in scenes)
    chosen = first_rows(of_scenes, None, RIGHT, attrgetter("scene"))
    return sorted(chosen, key=lambda row: (int(row.scene), int(row.question)))
