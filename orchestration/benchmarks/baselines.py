"""The language-model baselines: their questions, in parts that can be asked at the same time.

The file goes from the class :class:`LanguageModel` over the parts of each benchmark's questions and the
photographs to the functions that declare a model, and the paper's five models.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import msgspec

from orchestration.benchmarks.benchmark import Benchmark, Case, Interpreted, Section, Table
from orchestration.benchmarks.clevrer import CLEVRER
from orchestration.benchmarks.gqa import GQA
from orchestration.benchmarks.transfer import TRANSFER
from orchestration.benchmarks.twin import COMPARED, TWIN
from orchestration.models.asking import Part
from orchestration.models.exchange import Records
from orchestration.models.transcript import TranscriptError
from substrate.base.errors import FormatError
from substrate.baselines import clevrer as controlled
from substrate.baselines import gqa as photographs
from substrate.baselines import twin
from substrate.baselines.concordia import concordia
from substrate.baselines.model import Image, Model, ReplyError, row_of, spread
from substrate.baselines.parameters import Baseline, Parameters
from substrate.domains.clevrer.format import Question, SceneQuestions
from substrate.domains.gqa.answers import SUBSETS, answer_scene
from substrate.domains.gqa.format import Question as ImageQuestion
from substrate.domains.gqa.scene import Scene
from substrate.domains.rows import Row
from substrate.domains.smallville.format import Gold, Spec
from substrate.domains.smallville.joint import Judgement
from substrate.log.event_log import EventLog

# A photograph by image id.
Pictures = Callable[[str], Image]
# The section of `params.yaml` that all baselines share.
SECTION = Section("baselines", Parameters)
# The output of the stage that compares each baseline with the substrate.
COMPARISONS = f"artifacts/{{profile}}/{COMPARED}.json"
MEDIA_TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png"}


class Inputs(NamedTuple):
    """The input of a baseline.

    Attributes:
        cases: the cases of its benchmark.
        log: from a name to that benchmark's log.
        split: the split that its rows name.
        pictures: the photographs.
    """

    cases: Iterable[Case]
    log: Callable[[str], EventLog]
    split: str
    pictures: Pictures


@dataclass(frozen=True, kw_only=True)
class LanguageModel(Benchmark):
    """A benchmark that a language model answers.

    Attributes:
        base: the benchmark whose questions the model answers; its own data are a transcript.
        parts: from the inputs and the settings to the parts to ask.
        reads_logs: whether the parts read that benchmark's logs.
        sees: whether the parts show photographs.
    """

    base: Interpreted
    parts: Callable[[Inputs, Baseline], list[Part]]
    by_model: ClassVar[bool] = True
    reads_logs: bool = False
    sees: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of `params.yaml` that its answers depend on."""
        return (f"baselines.{self.name}",)

    def baseline(self, settings: Any) -> Baseline:
        """The settings of its requests."""
        return getattr(SECTION.of(settings), self.name)


def twin_parts(predict: Callable[..., Any], name: str, inputs: Inputs, baseline: Baseline) -> list[Part]:
    """Make a part per specification, with both of its arms."""
    cases = {case.scene: case for case in inputs.cases}
    specs = {scene: msgspec.json.decode(case.record, type=Spec) for scene, case in cases.items()}
    gold = {scene: msgspec.json.decode(case.questions, type=Gold | None) for scene, case in cases.items()}
    ask = partial(twin.rows, predict=predict, benchmark=name, split="generated")
    order = spread({scene: (spec.linkage, gold[scene]) for scene, spec in specs.items()}, baseline.seed)
    return [partial(ask, spec=specs[scene], gold=gold[scene]) for scene in order[: baseline.n]]


def question_parts(
    questions: Callable[[Case], Iterable[tuple[Any, Any]]],
    ask: Callable[..., list[Row]],
    inputs: Inputs,
    baseline: Baseline,
) -> list[Part]:
    """Make a part per chosen question; of two baselines with equal seeds, the smaller asks a subset.

    Args:
        questions: from a case to the questions that may be asked, by number.
        ask: asks a question, given the inputs, its scene, its number, the question and the model.
    """
    asked = (case for case in inputs.cases if case.questions)
    by_number = {(case.scene, number): question for case in asked for number, question in questions(case)}
    order = spread({key: question.answer for key, question in by_number.items()}, baseline.seed)
    return [partial(ask, inputs, *key, by_number[key]) for key in order[: baseline.n]]


def _descriptive(case: Case) -> Iterator[tuple[int, Question]]:
    for question in msgspec.json.decode(case.questions, type=SceneQuestions).questions:
        if question.question_type == "descriptive":
            yield question.question_id, question


def _controlled(
    predict: Callable[..., Any],
    name: str,
    inputs: Inputs,
    scene: int,
    number: int,
    question: Question,
    model: Model,
) -> list[Row]:
    log = inputs.log(f"{scene:05d}")
    answer = predict(model, log, question.question)
    common = {"benchmark": name, "split": inputs.split, "subset": "descriptive", "scene": scene}
    return [row_of(answer, question.answer, question=number, log=log.digest, **common)]


def _of_image(case: Case) -> Iterable[tuple[str, ImageQuestion]]:
    return msgspec.json.decode(case.questions, type=dict[str, ImageQuestion]).items()


def _vision(inputs: Inputs, image: str, number: str, question: ImageQuestion, model: Model) -> list[Row]:
    """Ask a vision model about a photograph."""
    picture = inputs.pictures(image)
    answer = photographs.vision(model, picture, question.question)
    common = {"benchmark": "gqa_vision", "split": inputs.split, "subset": "photograph"}
    common |= {"scene": image, "question": number, "log": f"sha256:{picture.sha256}"}
    return [row_of(answer, question.answer, **common)]


def _extractor(inputs: Inputs, image: str, number: str, question: ImageQuestion, model: Model) -> list[Row]:
    """Have a model extract a photograph's scene graph, from which the substrate answers."""
    picture = inputs.pictures(image)
    common = {"benchmark": "gqa_extractor", "split": inputs.split, "subset": SUBSETS["name"]}
    common |= {"scene": image, "question": number}
    try:
        graph = photographs.extract(model, picture)
    except ReplyError as error:
        return [row_of(error, question.answer, log=f"sha256:{picture.sha256}", **common)]
    scene = Scene.of(image, graph)
    return answer_scene(scene, {number: question}, inputs.split, resolve="name", benchmark="gqa_extractor")


def pictures_in(folder: Path) -> Pictures:
    """Read the photographs of a folder, ``IMAGE_ID.jpg``, ``.jpeg`` or ``.png``, when they are needed.

    Raises:
        FormatError: a photograph that is needed does not exist.
    """

    def picture(image: str) -> Image:
        for suffix, media_type in MEDIA_TYPES.items():
            if (path := folder / f"{image}{suffix}").is_file():
                data = path.read_bytes()
                return Image(image, media_type, hashlib.sha256(data).hexdigest(), data)
        hint = f"Put it there as {image}.jpg, or name another folder in baselines.images"
        raise FormatError(f"no photograph of image {image}", where=(folder,), hint=hint)

    return picture


def pictures_of(records: Records) -> Pictures:
    """The photographs in a transcript, of which only the hashes are known."""
    messages = (message for record in records.values() for message in record.request["messages"])
    known = {image["name"]: Image(**image) for message in messages for image in message["images"]}

    def picture(image: str) -> Image:
        if image not in known:
            hint = "Name the folder of photographs in baselines.images to ask about it"
            raise TranscriptError(f"the transcript is not about image {image}", hint=hint)
        return known[image]

    return picture


# The models are declared by the functions below. Each passes on the attributes that it does not set, and
# :func:`_declared` alone makes the declaration.
def _declared(
    base: Interpreted, name: str, what: str, place: int, counts: str, table: Table = TRANSFER, **own: Any
) -> LanguageModel:
    """Declare a model that is asked a benchmark's questions.

    Args:
        base: the benchmark.
        name: the name of the model's own benchmark.
        what: the model in words.
        place: the position in the table.
        counts: the answers whose accuracy is scored, in words.
        own: the other attributes, by name.
    """
    about = {
        "dataset": f"What the model of {name} was asked and said: from the endpoint, or from the transcript "
        "of an earlier run; an empty folder without either.",
        "answers": f"A row a question of {name}, replayed from its transcript; empty if unmeasured.",
        "scores": f"Accuracy of {counts}.",
    }
    title, questions = f"{base.title}, {what}", {"base": base, "source": base.source}
    return LanguageModel(name=name, title=title, table=(table, place), about=about, **questions, **own)


def of_twin(
    name: str, what: str, place: int, predict: Callable[..., Any], how: str = "", **own: Any
) -> LanguageModel:
    """Declare a model that is asked a specification's question for each arm."""
    counts = f"{how or what}, by arm, of both, and of saying whether they differ"
    parts = partial(twin_parts, predict, name)
    numbers = tuple(f"{name}/{metric}" for metric in Judgement._fields)
    scored = {"numbers": numbers, "metrics": TWIN.metrics, "whole": TWIN.whole}
    return _declared(TWIN, name, what, place, counts, parts=parts, **scored, **own)


def _of_questions(
    base: Interpreted, name: str, what: str, place: int, subset: str, *asks: Any, **own: Any
) -> LanguageModel:
    """Declare a model that is asked a benchmark's questions of a subset, by :func:`question_parts`."""
    numbers, parts = (f"{name}/{subset}/accuracy",), partial(question_parts, *asks)
    counts = f"{what}, with Wilson's interval"
    return _declared(base, name, what, place, counts, numbers=numbers, parts=parts, **own)


def of_logs(
    name: str, read: str, place: int, predict: Callable[..., Any], profiles: tuple[str, ...] = ()
) -> LanguageModel:
    """Declare a model that is asked a scene's descriptive questions, given its log."""
    what, asks = f"a language model that reads {read}", (_descriptive, partial(_controlled, predict, name))
    return _of_questions(CLEVRER, name, what, place, "descriptive", *asks, reads_logs=True, profiles=profiles)


def _of_images(name: str, what: str, place: int, subset: str, ask: Callable[..., Any]) -> LanguageModel:
    """Declare a model that is asked an image's questions, given its photograph."""
    return _of_questions(GQA, name, what, place, subset, _of_image, ask, sees=True)


CONTROLLED = of_logs("controlled", "the same log", 5, controlled.controlled)
GQA_VISION = _of_images("gqa_vision", "a vision model on photographs", 6, "photograph", _vision)
GQA_EXTRACTOR = _of_images("gqa_extractor", "scene graphs that a model extracted", 7, "by_name", _extractor)
TWIN_DIRECT = of_twin(
    "twin_direct", "a language model that reads the whole village", 1, twin.direct, table=TWIN.table[0]
)
TWIN_CONCORDIA = of_twin("twin_concordia", "a Concordia-style simulation", 2, concordia, table=TWIN.table[0])
