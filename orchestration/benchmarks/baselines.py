"""The language-model baselines: what each asks about, by the parts that can be asked at the same time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
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
from orchestration.models.transcript import Records, TranscriptError, images_of
from substrate.adapters.village_tools import SEARCH, SUBSTRATE
from substrate.base.errors import FormatError
from substrate.baselines import clevrer as controlled
from substrate.baselines import gqa as photographs
from substrate.baselines import twin
from substrate.baselines.agent import acting
from substrate.baselines.concordia import concordia
from substrate.baselines.model import Image, Model, ReplyError, row, spread
from substrate.baselines.parameters import Baseline, Parameters
from substrate.domains.clevrer.format import Question, SceneQuestions
from substrate.domains.gqa import format as gqa_format
from substrate.domains.gqa.interpreter import SUBSETS, answer_scene
from substrate.domains.gqa.scene import Scene
from substrate.domains.rows import Row
from substrate.domains.smallville.format import Gold, Spec
from substrate.domains.smallville.judging import Judgement
from substrate.log.event_log import EventLog

Pictures = Callable[[str], Image]
"""A photograph by image id."""
SECTION = Section("baselines", Parameters)
"""The part of `params.yaml` of all of them."""
COMPARISONS = f"artifacts/{{profile}}/{COMPARED}.json"
"""The output of the stage that compares each of them with the substrate."""
MEDIA_TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png"}


class Inputs(NamedTuple):
    """The cases that a baseline asks about.

    Attributes:
        cases: the cases of the benchmark that it asks about.
        log: one of that benchmark's logs, by name.
        split: the split that its rows name.
        pictures: the photographs.
    """

    cases: Iterable[Case]
    log: Callable[[str], EventLog]
    split: str
    pictures: Pictures


@dataclass(frozen=True, kw_only=True)
class LanguageModel(Benchmark):
    """A benchmark whose answers are a language model's.

    Attributes:
        asks: the benchmark whose cases it is asked about; its own data are a transcript.
        parts: what to ask, given the inputs and how much is asked.
        reads_logs: whether the parts read that benchmark's logs.
        sees: whether the parts show photographs.
    """

    asks: Interpreted
    parts: Callable[[Inputs, Baseline], list[Part]]
    by_model: ClassVar[bool] = True
    reads_logs: bool = False
    sees: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of `params.yaml` that its answers depend on."""
        return (f"baselines.{self.name}",)


def twin_parts(predict: Callable[..., Any], name: str, inputs: Inputs, baseline: Baseline) -> list[Part]:
    """A part a specification: both of its arms."""
    cases = {case.scene: case for case in inputs.cases}
    specs = {scene: msgspec.json.decode(case.record, type=Spec) for scene, case in cases.items()}
    gold = {scene: msgspec.json.decode(case.questions, type=Gold | None) for scene, case in cases.items()}
    ask = partial(twin.rows, predict=predict, benchmark=name, split="generated")
    order = spread({scene: (spec.linkage, gold[scene]) for scene, spec in specs.items()}, baseline.seed)
    return [partial(ask, spec=specs[scene], gold=gold[scene]) for scene in order[: baseline.n]]


def controlled_parts(
    predict: Callable[..., Any], name: str, inputs: Inputs, baseline: Baseline
) -> list[Part]:
    """A part a chosen descriptive question of CLEVRER."""
    questions: dict[tuple[Any, int], Question] = {}
    for case in inputs.cases:
        if case.questions:
            for question in msgspec.json.decode(case.questions, type=SceneQuestions).questions:
                if question.question_type == "descriptive":
                    questions[case.scene, question.question_id] = question
    order = spread({key: question.answer for key, question in questions.items()}, baseline.seed)
    return [
        partial(_controlled, predict, name, inputs, scene, questions[scene, number])
        for scene, number in order[: baseline.n]
    ]


def _controlled(
    predict: Callable[..., Any], name: str, inputs: Inputs, scene: int, question: Question, model: Model
) -> list[Row]:
    log = inputs.log(f"{scene:05d}")
    said = predict(model, log, question.question)
    common = {"benchmark": name, "split": inputs.split, "subset": "descriptive", "scene": scene}
    return [row(said, question.answer, question=question.question_id, log=log.digest, **common)]


class _Asked(NamedTuple):
    """A chosen question of GQA: its image, its number, itself and the split."""

    image: str
    number: str
    question: gqa_format.Question
    split: str


def _chosen_of_gqa(inputs: Inputs, baseline: Baseline) -> list[_Asked]:
    """The chosen questions; of two baselines of one seed, the smaller asks some of the larger's."""
    asked: dict[tuple[str, str], gqa_format.Question] = {}
    for case in inputs.cases:
        if case.questions:
            for number, question in _gqa_questions.decode(case.questions).items():
                asked[str(case.scene), number] = question
    order = spread({key: question.answer for key, question in asked.items()}, baseline.seed)
    keys = order[: baseline.n]
    return [_Asked(image, number, asked[image, number], inputs.split) for image, number in keys]


_gqa_questions = msgspec.json.Decoder(dict[str, gqa_format.Question])


def vision_parts(inputs: Inputs, baseline: Baseline) -> list[Part]:
    """A part a chosen question of GQA, asked about its photograph."""
    return [partial(_vision, inputs.pictures, asked) for asked in _chosen_of_gqa(inputs, baseline)]


def _vision(pictures: Pictures, asked: _Asked, model: Model) -> list[Row]:
    picture = pictures(asked.image)
    said = photographs.vision(model, picture, asked.question.question)
    common = {"benchmark": "gqa_vision", "split": asked.split, "subset": "photograph"}
    common |= {"scene": asked.image, "question": asked.number, "log": f"sha256:{picture.sha256}"}
    return [row(said, asked.question.answer, **common)]


def extractor_parts(inputs: Inputs, baseline: Baseline) -> list[Part]:
    """A part a chosen question of GQA: the model extracts the photograph's scene graph, from which the
    substrate answers.
    """
    return [partial(_extractor, inputs.pictures, asked) for asked in _chosen_of_gqa(inputs, baseline)]


def _extractor(pictures: Pictures, asked: _Asked, model: Model) -> list[Row]:
    picture = pictures(asked.image)
    common = {"benchmark": "gqa_extractor", "split": asked.split, "subset": SUBSETS["name"]}
    common |= {"scene": asked.image, "question": asked.number}
    try:
        graph = photographs.extract(model, picture)
    except ReplyError as error:
        return [row(error, asked.question.answer, log=f"sha256:{picture.sha256}", **common)]
    scene, question = Scene.of(asked.image, graph), {asked.number: asked.question}
    return answer_scene(scene, question, asked.split, resolve="name", benchmark="gqa_extractor")


def pictures_in(folder: Path) -> Pictures:
    """The photographs of a folder, ``IMAGE_ID.jpg`` or ``.png``.

    Raises:
        FormatError: when it is asked for: there is no such picture.
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
    """The photographs that a transcript is about, by their hashes alone."""
    known = images_of(records)

    def picture(image: str) -> Image:
        if image not in known:
            hint = "Name the folder of photographs in baselines.images to ask about it"
            raise TranscriptError(f"the transcript is not about image {image}", hint=hint)
        return known[image]

    return picture


def _model(name: str, title: str, asks: Interpreted, scores: str, **own: Any) -> LanguageModel:
    about = {
        "dataset": f"What the model of {name} was asked and said: from the endpoint, or from the transcript "
        "of an earlier run; an empty folder without either.",
        "answers": f"A row a question of {name}, replayed from its transcript; empty where nothing was "
        "measured.",
        "scores": scores,
    }
    return LanguageModel(name=name, title=title, about=about, asks=asks, source=asks.source, **own)


def _of_twin(
    name: str, title: str, place: int, predict: Callable[..., Any], scores: str, table: Table = TWIN.table[0]
) -> LanguageModel:
    return _model(
        name,
        f"Twin-EventLog, {title}",
        TWIN,
        f"{scores}, by arm, of both, and of saying whether they differ.",
        numbers=tuple(f"{name}/{metric}" for metric in Judgement._fields),
        table=(table, place),
        parts=partial(twin_parts, predict, name),
        metrics=TWIN.metrics,
        whole=TWIN.whole,
    )


def _of_logs(name: str, title: str, place: int, predict: Callable[..., Any]) -> LanguageModel:
    return _model(
        name,
        f"CLEVRER, a language model that reads {title}",
        CLEVRER,
        f"Accuracy of a language model that reads {title}, with Wilson's interval.",
        numbers=(f"{name}/descriptive/accuracy",),
        table=(TRANSFER, place),
        parts=partial(controlled_parts, predict, name),
        reads_logs=True,
    )


CONTROLLED = _of_logs("controlled", "the same log", 5, controlled.controlled)
CONTROLLED_FACTS = _of_logs("controlled_facts", "the same log without its poses", 8, controlled.facts)
GQA_VISION = _model(
    "gqa_vision",
    "GQA, a vision model on photographs",
    GQA,
    "Accuracy of a vision model on GQA's photographs, with Wilson's interval.",
    numbers=("gqa_vision/photograph/accuracy",),
    table=(TRANSFER, 6),
    parts=vision_parts,
    sees=True,
)
GQA_EXTRACTOR = _model(
    "gqa_extractor",
    "GQA, scene graphs that a model extracted",
    GQA,
    "Accuracy of the substrate on scene graphs that a model extracted, with Wilson's interval.",
    numbers=("gqa_extractor/by_name/accuracy",),
    table=(TRANSFER, 7),
    parts=extractor_parts,
    sees=True,
)
TWIN_DIRECT = _of_twin(
    "twin_direct",
    "a language model that reads the whole village",
    1,
    twin.direct,
    "Accuracy of a language model that reads the whole village",
)
TWIN_REASONED = _of_twin(
    "twin_reasoned",
    "a language model that reasons before it answers",
    9,
    twin.reasoned,
    "Accuracy of a language model that reasons before it answers",
    TRANSFER,
)
TWIN_CONCORDIA = _of_twin(
    "twin_concordia",
    "a Concordia-style simulation",
    2,
    concordia,
    "Accuracy of a Concordia-style simulation",
)
TWIN_WITH_SEARCH = _of_twin(
    "twin_with_search",
    "a language model that searches the village's sentences",
    10,
    partial(acting, memory=SEARCH),
    "Accuracy of a language model that searches the village's sentences (BM25) before it answers",
    TRANSFER,
)
TWIN_WITH_SUBSTRATE = _of_twin(
    "twin_with_substrate",
    "a language model with the substrate",
    11,
    partial(acting, memory=SUBSTRATE),
    "Accuracy of a language model that asks states and forks of the village's event log before it answers",
    TRANSFER,
)
