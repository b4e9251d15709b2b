"""Pages of single scenes, for benchmarks that offer them: perceived objects, questions and their steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from orchestration.benchmarks.benchmark import Case, Explained, Logs, ScenePages
from orchestration.lineage.explain import Each, by_scene, explain_case
from orchestration.registry import EXPLAINED
from orchestration.rendering.examples import WorkedExample
from orchestration.rendering.page import RIGHT, answers_page, templates
from orchestration.rendering.part_cache import Keep
from orchestration.scoring.counting import rows_of
from orchestration.workspace.folders import Workspace
from substrate.domains.rows import Row


class ScenePage(NamedTuple):
    """A page, and the number of its wrong answers per stage that lost them."""

    scene: int
    place: str
    wrong: int
    stages: Counter[str]


def write_scenes(workspace: Workspace, explain_cases: Each, keep: Keep) -> list[ScenePage]:
    """Write the pages of all benchmarks that give some and have answers."""
    profile = workspace.settings.profile
    written: list[ScenePage] = []
    for benchmark in EXPLAINED.values():
        file = workspace.answers(benchmark.name)
        for pages in benchmark.pages if file.is_file() and file.stat().st_size else ():
            make = partial(_write, explain_cases, benchmark, pages, profile, file)
            for scene, place, wrong, stages in keep(pages.folder, benchmark, make):
                written.append(ScenePage(scene, place, wrong, Counter(stages)))
    return written


def _write(
    explain_cases: Each, benchmark: Explained, pages: ScenePages, profile: str, file: Path, out: Path
) -> list[ScenePage]:
    (out / pages.folder).mkdir()
    rows_by_scene, written = by_scene(_chosen(file, pages.most)), list[ScenePage]()
    work = partial(scene_page, benchmark, pages, profile, rows_by_scene)
    for page, text in explain_cases(benchmark, rows_by_scene, work):
        written.append(ScenePage(*page))
        (out / written[-1].place).write_text(text, "utf-8")
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
) -> Iterator[tuple[ScenePage, str]]:
    """Make a case's page and its text; none if no row has an explanation."""
    explained = list(explain_case(benchmark, rows, case, logs, parameters))
    if not explained:
        return
    scene, view = int(case.scene), pages.shown(case, parameters, [answer.row for answer in explained])
    examples = [
        WorkedExample(answer.name, answer.explanation, answer.row, view.picture, (), telling=False)
        for answer in explained
    ]
    asked = [(text, loss, example) for example, (text, loss) in zip(examples, view.asked, strict=True)]
    stages = Counter(loss[0] for _, loss in view.asked if loss)
    wrong = sum(answer.row.correct is False for answer in explained)
    content = {"profile": profile, "answers": answers_page(benchmark.name)}
    content |= {"scene": scene, "timeline": view.picture, "asked": asked, "up": "../", **view.content}
    page = ScenePage(scene, f"{pages.folder}/{scene:05d}.html", wrong, stages)
    yield page, templates().from_string(view.template.read_text("utf-8")).render(content)


def _chosen(file: Path, most: int) -> list[Row]:
    """The wrong rows of the first scenes that have some, and the first other rows of each."""
    rows = list(rows_of(file))
    wrong = dict.fromkeys(row.scene for row in rows if row.correct is False)
    chosen: list[Row] = []
    for scene in islice(wrong | dict.fromkeys(row.scene for row in rows), most):
        of_scene = [row for row in rows if row.scene == scene]
        chosen += [row for row in of_scene if row.correct is False]
        chosen += [row for row in of_scene if row.correct is not False][:RIGHT]
    return sorted(chosen, key=lambda row: (int(row.scene), int(row.question)))
