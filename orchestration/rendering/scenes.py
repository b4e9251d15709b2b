"""Pages of single scenes, as a benchmark gives them: what was seen in it, its questions and their chains."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

import jinja2

from orchestration.benchmarks.benchmark import Explained, ScenePages
from orchestration.lineage.explain import explain_rows
from orchestration.registry import EXPLAINED
from orchestration.rendering.page import DRAWN, RIGHT, answers_page
from orchestration.rendering.worked import Worked
from orchestration.scoring.counting import rows_of
from orchestration.workspace.folders import Workspace
from substrate.domains.rows import Row


class ScenePage(NamedTuple):
    """A page, and by stage how many wrong answers on it were lost there."""

    scene: int
    place: str
    wrong: int
    stages: Counter[str]


def write_scenes(workspace: Workspace, jinja: jinja2.Environment, out: Path) -> list[ScenePage]:
    """Write the pages of all benchmarks that give some and have answers, into the report's folder."""
    written: list[ScenePage] = []
    for benchmark in EXPLAINED.values():
        file = workspace.artifacts / benchmark.name / "answers.jsonl"
        for pages in benchmark.pages if file.is_file() and file.stat().st_size else ():
            (out / pages.folder).mkdir()
            for page, text in _pages(
                workspace, jinja.get_template(DRAWN[pages.drawn]), benchmark, pages, file
            ):
                (out / page.place).write_text(text, "utf-8")
                written.append(page)
    return written


def _pages(
    workspace: Workspace, template: jinja2.Template, benchmark: Explained, pages: ScenePages, file: Path
) -> Iterator[tuple[ScenePage, str]]:
    parameters = benchmark.parameters.of(workspace.settings)
    explained = explain_rows(workspace, benchmark, _chosen(file, pages.most))
    for scene, of_scene in groupby(explained, key=lambda one: int(one.row.scene)):
        found = list(of_scene)
        shown = pages.shown(found[0].case, parameters, [one.row for one in found])
        asked = [
            (text, loss, Worked(one.name, one.explanation, one.row, shown.picture, (), telling=False))
            for one, (text, loss) in zip(found, shown.asked, strict=True)
        ]
        stages = Counter(loss[0] for _, loss in shown.asked if loss)
        wrong = sum(one.row.correct is False for one in found)
        said = {"profile": workspace.settings.profile, "answers": answers_page(benchmark.name)}
        said |= {"scene": scene, "timeline": shown.picture, "asked": asked, "up": "../", **shown.content}
        place = f"{pages.folder}/{scene:05d}.html"
        yield ScenePage(scene, place, wrong, stages), template.render(said)


def _chosen(file: Path, most: int) -> list[Row]:
    """The rows that are not right of the first scenes that have some, and the first others of each."""
    rows = list(rows_of(file))
    wrong = dict.fromkeys(row.scene for row in rows if row.correct is False)
    found: list[Row] = []
    for scene in islice(wrong | dict.fromkeys(row.scene for row in rows), most):
        of_scene = [row for row in rows if row.scene == scene]
        found += [row for row in of_scene if row.correct is False]
        found += [row for row in of_scene if row.correct is not False][:RIGHT]
    return sorted(found, key=lambda row: (int(row.scene), int(row.question)))
