"""GQA: questions about the scene graphs of photographs, with objects resolved by name and by id."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Annotated, Any

import msgspec

from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks.transfer import TRANSFER
from substrate.base.records import Records
from substrate.cause.explanation import Explanation
from substrate.cause.pictures import Pictured, pictured
from substrate.domains.gqa import format
from substrate.domains.gqa.answers import SUBSETS, answer_scene
from substrate.domains.gqa.deltas import scene_log
from substrate.domains.gqa.explain import explain as explain_question
from substrate.domains.gqa.picture import image_boxes
from substrate.domains.gqa.scene import Scene
from substrate.domains.rows import Row
from substrate.generators.gqa.release import WORLD

_questions = msgspec.json.Decoder(dict[str, format.Question])


class GqaData(bm.Data, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """GQA's data: a number of generated scenes, the official files, or a user's own files."""

    scenes: Annotated[int, bm.Natural] = 0
    scene_graphs: str | None = None
    questions: str | None = None


def cases(files: bm.Files, only: bm.Only = None, unasked: bool = False) -> bm.Cases:
    """Read GQA's cases: an image's scene graph, and the questions about it."""
    graphs = format.read_scene_graphs(files["scene_graphs"])
    by_image = format.read_questions(files["questions"]) if "questions" in files else {}
    wanted = {image: by_image[image] for image in bm.chosen(by_image, only)}
    format.require_scenes(wanted, graphs)
    images = bm.chosen(graphs, only) if unasked else wanted

    def asked(image: Any) -> bytes:
        return msgspec.json.encode(by_image[image].raw) if image in by_image else b""

    return cases_of(graphs, images, asked)


def cases_of(
    graphs: Records[str, format.SceneGraph], images: Collection[Any], asked: Callable[[Any], bytes]
) -> bm.Cases:
    """The cases of some images: the scene graph as in its file, and its questions, as bytes."""
    raw = graphs.raw
    each = (bm.Case(image, f"{graphs.name}:{image}", bytes(raw[image]), asked(image)) for image in images)
    return bm.Cases(len(images), each)


def logs(case: bm.Case, _: Any = None) -> list[bm.NamedLog]:
    """Make an image's log: the annotations, and the triples that the TBox entails."""
    image, file = str(case.scene), case.source.rpartition(":")[0]
    return [bm.NamedLog(image, scene_log(image, format.decode_scene_graph(file, image, case.record)))]


def rows(case: bm.Case, logs: bm.Logs, _: Any, split: str) -> Iterable[Row]:
    """Make two rows per question: with objects resolved by name, and by the ids in the program."""
    return answer_scene(Scene.opened(str(case.scene), logs[0]), _questions.decode(case.questions), split)


def explain(case: bm.Case, logs: bm.Logs, _: Any, subset: str, question: str) -> Explanation | None:
    """Explain the answer to a question; ``None`` if there is no such question."""
    record = _questions.decode(case.questions).get(question)
    for how, name in SUBSETS.items():
        if name == subset and record:
            return explain_question(Scene.opened(str(case.scene), logs[0]), record, resolve=how)
    return None


def picture(case: bm.Case, why: Explanation, row: Row) -> Pictured:
    """Draw an image's annotated objects, and mark the evidence of an answer."""
    image = str(case.scene)
    return pictured(image_boxes(image, format.decode_scene_graph(case.source, image, case.record), why))


def wordings(case: bm.Case) -> Iterator[bm.Wording]:
    """The text of an image's questions."""
    for number, question in _questions.decode(case.questions).items():
        yield bm.Wording(number, question.question)


IMAGES = bm.Source(
    name="gqa",
    title="GQA",
    about="GQA's scene graphs and questions: sampled everyday scenes with gold of their own, or the official "
    "balanced validation split.",
    data=GqaData,
    inputs={"scene_graphs": (format.SCENE_GRAPHS_FILE,), "questions": (format.QUESTIONS_FILE,)},
    cases=cases,
    official=bm.Release("validation", "balanced validation split"),
    world=(WORLD,),
)
GQA = bm.Explained(
    name="gqa",
    title="GQA",
    numbers=("gqa/by_name/accuracy", "gqa/by_id/accuracy"),
    form="gqa/by_name|by_id/IMAGE/QUESTION",
    table=(TRANSFER, 2),
    source=IMAGES,
    logger=bm.Logger(
        name="gqa",
        about="One event log an image: its annotations, and what the TBox entails.",
        source=IMAGES,
        logs=logs,
        shapes="gqa",
    ),
    rows=rows,
    explain=explain,
    picture=picture,
    wordings=wordings,
    examples={"GQA, objects resolved by name": SUBSETS["name"]},
    declared={"logs": lambda data: data.scenes},
    about={
        "answers": "Two rows a question: objects resolved by name, and by the ids the program carries.",
        "scores": "Accuracy with objects resolved by name and by id, with Wilson's interval.",
    },
)
