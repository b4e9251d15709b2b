"""CLEVRER: descriptive, explanatory, predictive and counterfactual questions about colliding objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from orchestration.base.beyond import beyond
from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks.real import MEASURED_ON
from substrate.base.errors import FormatError, ParameterError
from substrate.base.extras import import_extra
from substrate.base.numbered import sources_in
from substrate.base.records import Index
from substrate.cause.explanation import OWN, Explanation
from substrate.cause.pictures import Pictured, pictured
from substrate.domains.clevrer import format
from substrate.domains.clevrer.answers import answer_scene
from substrate.domains.clevrer.deltas import events_log, film_log
from substrate.domains.clevrer.emitter import MotionEmitter
from substrate.domains.clevrer.explain import explain as explain_question
from substrate.domains.clevrer.film import decode_film
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.picture import scene_timeline
from substrate.domains.clevrer.scene import Scene
from substrate.domains.clevrer.submission import submitted
from substrate.domains.clevrer.trajectories import decode_trajectories, with_trajectory
from substrate.domains.rows import Row
from substrate.generators.clevrer.release import WORLD
from substrate.log.event_log import EventLog

# The kind of a case that is a compact event record; other cases are annotations.
EVENTS = "events"
_questions = msgspec.json.Decoder(format.SceneQuestions)


class ClevrerData(bm.Data, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """CLEVRER's data: a number of generated scenes, the official files, or a user's own files."""

    first_scene: Annotated[int, bm.Natural] = 10000
    scenes: Annotated[int, bm.Natural] = 0
    annotations: str | None = None
    events: str | None = None
    # Positions of the objects in `events`, where the events' own lines have none.
    trajectories: str | None = None
    # A detector's proposals, which `perceived` reads with `questions`.
    proposals: str | None = None
    questions: str | None = None
    # Another file of questions. Its predictive ones are left out where `events` have no positions.
    further: str | None = None

    def among(self, profile: Any) -> ClevrerData:
        """Drop the questions if they are about proposals only."""
        if self.proposals is None or self.annotations is not None or self.events is not None:
            return self
        return replace(self, source="none", questions=None, further=None)


def scene_cases(files: bm.Files, raw: Mapping[int, msgspec.Raw], only: bm.Only, unasked: bool) -> bm.Cases:
    """The cases of scenes, with the questions about each.

    Args:
        raw: the undecoded questions by scene, ascending.
        only: the scenes to take.
        unasked: whether scenes without questions count too.

    Raises:
        ParameterError: not exactly one of ``annotations`` and ``events`` is given, or ``trajectories``
            without ``events``.
        FormatError: a question's scene does not exist, or the input has a wrong format.
    """
    annotations, events, moved = (files.get(role) for role in ("annotations", "events", "trajectories"))
    if (annotations is None) == (events is None):
        hint = "--annotations takes a folder or zip, --events a JSON-lines file"
        raise ParameterError("give either --annotations or --events", hint=hint)
    if moved and not events:
        hint = "Annotations have motion of their own: leave the trajectories out"
        raise ParameterError("belongs to --events", where=("--trajectories", moved), hint=hint)
    input_ = events or files["annotations"]
    there: Any = format.index_scene_events(events) if events else format.annotation_names(input_)
    tracks = format.index_scene_events(moved, decode_trajectories) if moved else Index[int]()
    scenes = bm.asked_scenes(there, raw, files, input_, only, unasked)

    def each() -> Iterator[bm.Case]:
        if events:
            sources = format.event_sources(events, there, scenes)
        else:
            sources = sources_in(input_, (there[scene] for scene in scenes))
        for scene, (name, record) in zip(scenes, sources, strict=True):
            if moved and scene in tracks:
                (track,) = format.event_sources(moved, tracks, [scene])
                record = with_trajectory((name, record), track)
            yield bm.Case(scene, name, record, bytes(raw.get(scene, b"")), "" if annotations else EVENTS)

    return bm.Cases(len(scenes), each())


def cases(files: bm.Files, only: bm.Only = None, unasked: bool = False) -> bm.Cases:
    """Read CLEVRER's cases: annotations or event records, and the questions about each scene."""
    raw: Mapping[int, msgspec.Raw] = {}
    if "questions" in files:
        raw = format.read_questions(files["questions"]).raw
    if "further" in files:
        raw = _joined(raw, files["further"], moves="annotations" in files or "trajectories" in files)
    return scene_cases(files, raw, only, unasked)


def _joined(raw: Mapping[int, msgspec.Raw], further: Path, *, moves: bool) -> Mapping[int, msgspec.Raw]:
    """The undecoded questions of two files by scene, ascending.

    Args:
        raw: the questions of the first file.
        moves: whether predictive questions of the second file are asked.

    Raises:
        FormatError: the files number two questions of a scene alike.
    """
    both = dict(raw)
    for scene, record in format.read_questions(further).items():
        asked = [q for q in record.questions if moves or q.question_type != "predictive"]
        own = _questions.decode(both[scene]).questions if scene in both else []
        if twice := sorted({q.question_id for q in own} & {q.question_id for q in asked}):
            what, hint = f"question {twice[0]} of scene {scene} occurs twice", "Number its questions once"
            raise FormatError(what, where=(further,), hint=hint)
        if asked:
            joined = format.SceneQuestions(scene, [*own, *asked], record.video_filename)
            both[scene] = msgspec.Raw(msgspec.json.encode(joined))
    return dict(sorted(both.items()))


def scene_logs(
    tracked: Callable[[format.SceneEvents], EventLog] | None, case: bm.Case, _: Any = None
) -> list[bm.NamedLog]:
    """Make a scene's log from its annotation or its event record.

    Args:
        tracked: makes the log of events with positions; ``None`` if it is not installed.

    Raises:
        ParameterError: the record has positions, and ``tracked`` is not installed.
    """
    source = (case.source, case.record)
    if case.kind == EVENTS:
        events = format.decode_scene_events(source)
        if events.trajectory is not None and tracked is None:
            hint = "Install event-graph-research, or leave the trajectory out"
            raise ParameterError("positions cannot be read here", where=(case.source,), hint=hint)
        log = tracked(events) if tracked else events_log(events)
    else:
        film = decode_film(source)
        if film.scene_index != case.scene:
            what = f"scene_index is {film.scene_index}"
            hint = f"The file's name says {case.scene}"
            raise FormatError(what, where=(case.source, "$.scene_index"), hint=hint)
        log = film_log(film)
    return [bm.NamedLog(f"{case.scene:05d}", log)]


def motion(parameters: Parameters) -> MotionEmitter:
    """The emitter for a scene's log: removed objects are gone, and the others move on.

    In a log of events only, events that depend on a removed object do not happen.
    """
    return MotionEmitter(engine=parameters.engine, by_ancestry=True)


def rows(case: bm.Case, logs: bm.Logs, parameters: Parameters, split: str) -> Iterable[Row]:
    """Answer a scene's questions, a row each."""
    questions = _questions.decode(case.questions).questions
    return answer_scene(logs[0], int(case.scene), questions, parameters, split)


def possible_rows(case: bm.Case, worlds: int, parameters: Parameters, split: str) -> Iterable[Row]:
    """Answer a scene's questions from at most ``worlds`` logs that its event record allows.

    Raises:
        ParameterError: the case is an annotation.
        FormatError: the record's events have no probabilities.
        MissingExtraError: the package ``research``, which makes the logs, is not installed.
    """
    if case.kind != EVENTS:
        hint = "Give --events with probabilities, or leave --worlds out"
        raise ParameterError("an annotation has no probabilities", where=("--worlds", case.source), hint=hint)
    questions = _questions.decode(case.questions).questions
    possible = import_extra("research.domains.possible")
    scene = possible.decode_possible((case.source, case.record))
    return possible.answer_possible(scene, questions, parameters, split, worlds)


def explain_asked(
    kind: type[Any],
    why: Callable[..., Explanation],
    case: bm.Case,
    logs: bm.Logs,
    parameters: Any,
    _: str,
    question: str,
) -> Explanation | None:
    """Explain the answer to a question; ``None`` if there is no such question.

    Args:
        kind: the type of a case's questions.
        why: explains a question, given the question, its log and its scene.
    """
    for candidate in msgspec.json.decode(case.questions, type=kind).questions:
        if str(candidate.question_id) == question:
            return why(logs[0], int(case.scene), candidate, parameters)
    return None


def picture(_: bm.Case, why: Explanation, row: Row) -> Pictured:
    """Draw a scene's objects and events, and mark the evidence of an answer."""
    return pictured(scene_timeline(Scene.of(why.logs[OWN]), why))


def wordings_of(kind: type[Any], case: bm.Case) -> Iterator[bm.Wording]:
    """The text of a case's questions, with their choices."""
    for question in msgspec.json.decode(case.questions, type=kind).questions:
        choices = tuple(choice.choice for choice in question.choices or ())
        yield bm.Wording(str(question.question_id), question.question, choices)


wordings = partial(wordings_of, format.SceneQuestions)


TABLE = bm.Table(
    name="clevrer",
    title="Table 1: CLEVRER",
    about="Table 1: accuracy on CLEVRER by subset, beside NS-DR and ALOE, and what simulated forks reach.",
    layout="by subset",
    needs=("ablations/scores",),
    trivial=("questions/trivial",),
    beyond=bm.per_choice("ablations", "counterfactual.simulated", "counterfactual.video", "predictive.S"),
    note="The rows of a dotted name are not the paper's: forks simulated by the calibrated law of motion, "
    "counterfactual.simulated to the horizon of the official key (51 frames after the video), "
    "counterfactual.video to the video's end.",
    of_rivals="NS-DR's released executor, given the same 564 real explanatory questions and events of the "
    "training split, answers 564 of 564, as this interpreter does.",
)
SCENES = bm.Source(
    name="clevrer",
    title="CLEVRER",
    about="CLEVRER's annotations and questions: simulated rigid-body scenes with gold of their own, or the "
    "official validation split.",
    data=ClevrerData,
    inputs={
        "annotations": ("annotation_validation.zip", "annotation.zip", "annotation"),
        "events": ("events.jsonl",),
        "trajectories": ("trajectories.jsonl",),
        "questions": ("validation.json", "questions.json"),
        "further": ("further.json",),
    },
    cases=cases,
    official=bm.Release("validation", "validation split"),
    world=(WORLD,),
)
PARAMETERS = bm.Section("clevrer", Parameters)
CLEVRER = bm.Explained(
    name="clevrer",
    title="CLEVRER",
    numbers=(
        "clevrer/descriptive/per_question",
        *bm.per_choice("clevrer", "explanatory", "counterfactual", "predictive"),
    ),
    form="clevrer/SCENE/QUESTION",
    table=(TABLE, 0),
    source=SCENES,
    logger=bm.Logger(
        name="clevrer",
        about="One event log a scene, with an index of digests.",
        source=SCENES,
        logs=partial(scene_logs, beyond("research.domains.positions:tracked_log")),
        parameters=PARAMETERS,
        shapes="clevrer",
        emitter=motion,
    ),
    parameters=PARAMETERS,
    rows=rows,
    possible=possible_rows,
    submission=submitted,
    explain=partial(explain_asked, format.SceneQuestions, explain_question),
    picture=picture,
    wordings=wordings,
    examples={f"CLEVRER, {subset}": subset for subset in format.SUBSETS},
    declared={"logs": lambda data: data.scenes},
    about={
        "answers": "A row a question: predicted, expected, and the log it was computed from.",
        "scores": "Per-question and per-option accuracy of each subset, with Wilson's interval.",
        MEASURED_ON: "training split, true events; explanatory questions chosen by CLEVRER-Humans (no random "
        "part), counterfactual ones in natural mix, no predictive ones (no motion)",
    },
)
