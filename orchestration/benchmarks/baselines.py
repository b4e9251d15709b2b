"""The language-model baselines: what each asks about, in parts that can be asked at the same time, and
recording and replaying them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from orchestration.benchmarks import clevrer, gqa
from orchestration.benchmarks.answer import Advance
from orchestration.benchmarks.twin import specs_of
from orchestration.fetch.transfer import Patience
from orchestration.models.client import Client, Clock, Endpoint, Recorder
from orchestration.models.transcript import (
    Records,
    Replay,
    TranscriptError,
    images_of,
    journal,
    read_transcript,
    write_transcript,
)
from orchestration.settings import Settings
from substrate.baselines import clevrer as controlled
from substrate.baselines import gqa as photographs
from substrate.baselines import twin
from substrate.baselines.concordia import concordia
from substrate.baselines.model import Image, Model, ReplyError, chosen, row
from substrate.baselines.parameters import Baseline
from substrate.domains.clevrer.format import Question, read_questions
from substrate.domains.gqa import format as gqa_format
from substrate.domains.gqa.interpreter import SUBSETS, answer_scene
from substrate.domains.smallville.format import read_gold, read_specs
from substrate.errors import FormatError
from substrate.log import EventLog
from substrate.rows import Row

Part = Callable[[Model], list[Row]]
"""Asks a model about one thing; gives its rows. What it asks depends on nothing that another part is told."""
Pictures = Callable[[str], Image]
"""A photograph by image id."""

MEDIA_TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png"}


class Inputs(NamedTuple):
    """Where a baseline finds what it asks about."""

    data: Path
    artifacts: Path
    settings: Settings
    pictures: Pictures


def _unwatched(done: int, total: int) -> None:
    """Nobody asks how far it is."""


def ask_parts(
    parts: Sequence[Part], model: Model, *, concurrency: int = 1, watch: Advance = _unwatched
) -> list[Row]:
    """The rows of all parts, in their order, whatever the order in which they were answered.

    Args:
        parts: what to ask about.
        model: who is asked.
        concurrency: how many parts at once.
        watch: told how many parts are done.

    Raises:
        SubstrateError: what the first part that fails raises; parts that have not begun are left.
    """
    with ThreadPoolExecutor(concurrency) as pool:
        futures = [pool.submit(part, model) for part in parts]
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                watch(done, len(parts))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return [row for future in futures for row in future.result()]


def twin_parts(predict: Callable[..., Any], name: str, inputs: Inputs) -> list[Part]:
    """A part a specification: both of its arms."""
    baseline: Baseline = getattr(inputs.settings.baselines, name)
    path = specs_of(inputs.data / "twin")
    gold = read_gold(path)
    return [
        partial(
            twin.rows, spec=spec, gold=gold[spec.spec], predict=predict, benchmark=name, split="generated"
        )
        for spec in twin.balanced(read_specs(path), baseline.n)
    ]


def controlled_parts(inputs: Inputs) -> list[Part]:
    """A part a chosen descriptive question of CLEVRER."""
    baseline = inputs.settings.baselines.controlled
    asked = read_questions(clevrer.questions_of(inputs.data / "clevrer"))
    questions = {
        (scene, q.question_id): q
        for scene, record in asked.items()
        for q in record.questions
        if q.question_type == "descriptive"
    }
    logs = inputs.artifacts / "clevrer" / "logs"
    split = "validation" if inputs.settings.data.clevrer.source == "official" else "generated"
    return [
        partial(_controlled, logs, scene, questions[scene, number], split)
        for scene, number in chosen(sorted(questions), baseline.n, baseline.seed)
    ]


def _controlled(logs: Path, scene: int, question: Question, split: str, model: Model) -> list[Row]:
    log = EventLog.read(logs / clevrer.log_name(scene))
    said = controlled.controlled(model, log, question.question)
    return [
        row(
            said,
            question.answer,
            benchmark="controlled",
            split=split,
            subset="descriptive",
            scene=scene,
            question=question.question_id,
            log=log.digest,
        )
    ]


def _chosen_of_gqa(baseline: Baseline, inputs: Inputs) -> list[tuple[str, str, gqa_format.Question, str]]:
    """Image, number, question and split of the chosen questions of GQA; of two baselines of one seed, the
    smaller asks some of the larger's.
    """
    asked = gqa_format.read_questions(gqa.questions_of(inputs.data / "gqa"))
    split = "validation" if inputs.settings.data.gqa.source == "official" else "generated"
    keys = [(image, number) for image, questions in asked.items() for number in questions]
    return [
        (image, number, asked[image][number], split)
        for image, number in chosen(sorted(keys), baseline.n, baseline.seed)
    ]


def vision_parts(inputs: Inputs) -> list[Part]:
    """A part a chosen question of GQA, asked about its photograph."""
    return [
        partial(_vision, inputs.pictures, *asked)
        for asked in _chosen_of_gqa(inputs.settings.baselines.gqa_vision, inputs)
    ]


def _vision(
    pictures: Pictures, image: str, number: str, question: gqa_format.Question, split: str, model: Model
) -> list[Row]:
    picture = pictures(image)
    said = photographs.vision(model, picture, question.question)
    common = {
        "benchmark": "gqa_vision",
        "split": split,
        "subset": "photograph",
        "scene": image,
        "question": number,
        "log": f"sha256:{picture.sha256}",
    }
    return [row(said, question.answer, **common)]


def extractor_parts(inputs: Inputs) -> list[Part]:
    """A part a chosen question of GQA: the model extracts the photograph's scene graph, the substrate answers
    from it.
    """
    return [
        partial(_extractor, inputs.pictures, *asked)
        for asked in _chosen_of_gqa(inputs.settings.baselines.gqa_extractor, inputs)
    ]


def _extractor(
    pictures: Pictures, image: str, number: str, question: gqa_format.Question, split: str, model: Model
) -> list[Row]:
    picture = pictures(image)
    common = {
        "benchmark": "gqa_extractor",
        "split": split,
        "subset": SUBSETS["name"],
        "scene": image,
        "question": number,
    }
    try:
        graph = photographs.extract(model, picture)
    except ReplyError as error:
        return [row(error, question.answer, log=f"sha256:{picture.sha256}", **common)]
    (answer,) = answer_scene(image, graph, {number: question})
    said = answer.predicted if answer.error is None else ReplyError(answer.error)
    return [row(said, question.answer, log=answer.log, **common)]


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
        raise FormatError(
            f"no photograph of image {image}",
            where=(folder,),
            hint=f"Put it there as {image}.jpg, or name another folder in baselines.images",
        )

    return picture


def pictures_of(records: Records) -> Pictures:
    """The photographs that a transcript is about, by their hashes alone."""
    known = images_of(records)

    def picture(image: str) -> Image:
        if image not in known:
            raise TranscriptError(
                f"the transcript is not about image {image}",
                hint="Name the folder of photographs in baselines.images to ask about it",
            )
        return known[image]

    return picture


class Kind(NamedTuple):
    """How a baseline is run: its parts, the stages whose outs it reads, the code it depends on beside the
    baselines' own.
    """

    parts: Callable[[Inputs], list[Part]]
    needs: tuple[str, ...]
    code: tuple[str, ...]
    pictures: bool = False


KINDS: Mapping[str, Kind] = {
    "controlled": Kind(
        controlled_parts,
        ("clevrer/dataset", "clevrer/logs"),
        ("substrate/domains/clevrer/deltas.py", "substrate/domains/clevrer/format.py"),
    ),
    "gqa_vision": Kind(vision_parts, ("gqa/dataset",), ("substrate/domains/gqa/format.py",), pictures=True),
    "gqa_extractor": Kind(
        extractor_parts,
        ("gqa/dataset",),
        ("substrate/domains/gqa", "substrate/tboxes/gqa.ttl"),
        pictures=True,
    ),
    **{
        name: Kind(
            partial(twin_parts, predict, name), ("twin/dataset",), ("substrate/domains/smallville/format.py",)
        )
        for name, predict in (("twin_direct", twin.direct), ("twin_concordia", concordia))
    },
}
"""Every baseline by name."""


def replay(name: str, records: Records, inputs: Inputs, watch: Advance = _unwatched) -> list[Row]:
    """The rows of a baseline from its transcript alone; neither a server nor a photograph is looked at.

    Raises:
        TranscriptError: something was never asked.
    """
    baseline: Baseline = getattr(inputs.settings.baselines, name)
    return ask_parts(
        KINDS[name].parts(inputs._replace(pictures=pictures_of(records))),
        Replay(records, baseline),
        watch=watch,
    )


def record(
    name: str,
    server: Endpoint,
    kept: Path,
    inputs: Inputs,
    clock: Clock | None = None,
    watch: Advance = _unwatched,
) -> int:
    """Ask a server for what a transcript lacks, and finish the transcript.

    Args:
        kept: the transcript; beside it grows ``NAME.partial.jsonl`` until it is finished.

    Returns:
        How many requests the server was sent.

    Raises:
        ModelError: the server gave up; what it answered is in the partial file, and the next run goes on from
            there.
    """
    settings = inputs.settings.baselines
    baseline: Baseline = getattr(settings, name)
    parts, partial_file = KINDS[name].parts(inputs), kept.with_suffix(".partial.jsonl")
    client = Client(
        server,
        baseline,
        Patience(read=settings.timeout, attempts=settings.attempts),
        settings.requests_per_minute,
        clock,
    )
    try:
        with journal(partial_file) as written:
            recorder = Recorder(client, read_transcript(kept), written, baseline)
            ask_parts(parts, recorder, concurrency=settings.concurrency, watch=watch)
            write_transcript(kept, recorder.used)
            partial_file.unlink(missing_ok=True)
            return recorder.asked
    finally:
        client.close()
