"""Perceived: CLEVRER's questions, answered from logs that are made from a detector's proposals.

Where the truth of a video is known, it travels inside the case's questions, as one more key of their JSON
object: ``annotation`` or ``events``. A log is made from the case's record alone, so no log can depend on it.
Only :func:`truth_of` reads it, for reliability and for pages that say what was lost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks import clevrer
from orchestration.benchmarks.real import MEASURED_ON
from research.benchmarks import BOTH
from research.domains.perception.explain import explain_perceived
from research.domains.perception.format import decode_proposals, proposal_names
from research.domains.perception.judge import gold_of, happenings, lost
from research.domains.perception.log import perceived_log
from research.domains.perception.parameters import Perception
from research.domains.perception.perceive import ExaminedVideo, Perceived, examined, recorded
from research.domains.perception.picture import drawn, slips, timeline
from research.domains.positions import tracked_log
from research.generators.proposals import seen_files
from substrate.base.numbered import sources_in
from substrate.domains.clevrer.answers import answer_scene
from substrate.domains.clevrer.format import SceneQuestions, read_questions
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.rows import Row
from substrate.generators.layout import encode_scene, write_release
from substrate.log.event_log import EventLog

NAME = "perceived"
PAGE = Path(__file__).with_name("video.html.j2")
_TRUTH = ("annotations", "events")
_questions = msgspec.json.Decoder(SceneQuestions)


class PerceivedData(bm.Data, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A number of generated scenes as a detector sees them, or a user's own proposals and questions.

    A profile that names ``clevrer.proposals`` names these too. ``annotations`` or ``events`` are the truth:
    reliability is measured against them, and they show which stage lost a wrong answer. No log and no answer
    depends on them.
    """

    first_scene: Annotated[int, bm.Natural] = 10000
    scenes: Annotated[int, bm.Natural] = 0
    proposals: str | None = None
    annotations: str | None = None
    events: str | None = None
    questions: str | None = None

    def among(self, profile: Any) -> PerceivedData:
        """These data; the profile's ``clevrer`` supplies files that are not named here."""
        named = profile.clevrer
        if self.proposals is not None or self.source == "generated" or named.proposals is None:
            return self
        names = (*_TRUTH, "proposals", "questions")
        files = {name: getattr(self, name) or getattr(named, name) for name in names}
        return replace(self, source="local", **files)


def cases(files: bm.Files, only: Collection[Any] | None = None, unasked: bool = False) -> bm.Cases:
    """The videos with questions, as proposals; all videos if ``unasked``, or if there are no questions."""
    raw_questions: Mapping[int, Any] = read_questions(files["questions"]).raw if "questions" in files else {}
    where = files["proposals"]
    names = proposal_names(where)
    videos = bm.asked_scenes(names, raw_questions, files, where, only, unasked or not raw_questions)

    def each() -> Iterator[bm.Case]:
        sources = sources_in(where, [names[video] for video in videos])
        truths = _truths(files, videos)
        truth = next(truths, None)
        for video, (name, record) in zip(videos, sources, strict=True):
            questions = bytes(raw_questions.get(video, b""))
            if questions and truth and truth.scene == video:
                # One more key before the object's closing brace (see this module's docstring).
                questions = b'%b,"%b":%b}' % (questions.rstrip()[:-1], _key(truth), truth.record)
            while truth and int(truth.scene) <= video:
                truth = next(truths, None)
            yield bm.Case(video, name, record, questions)

    return bm.Cases(len(videos), each())


def _truths(files: bm.Files, videos: Collection[int]) -> Iterator[bm.Case]:
    """The cases of CLEVRER with the truth of some videos, ascending; without those of unknown truth."""
    given = {name: files[name] for name in _TRUTH if name in files}
    return clevrer.scene_cases(given, {}, videos, unasked=True).each if given else iter(())


def _key(truth: bm.Case) -> bytes:
    return (truth.kind or "annotation").encode()


class _Known(msgspec.Struct):
    """The truth of a case's video, which its questions' bytes contain too."""

    annotation: msgspec.Raw = msgspec.Raw()
    events: msgspec.Raw = msgspec.Raw()


def truth_of(case: bm.Case) -> EventLog | None:
    """The log of what truly happened in a case's video; ``None`` where that is not known."""
    known = msgspec.json.decode(case.questions or b"{}", type=_Known)
    for kind, record in (("", bytes(known.annotation)), (clevrer.EVENTS, bytes(known.events))):
        if record:
            return clevrer.scene_logs(tracked_log, bm.Case(case.scene, case.source, record, kind=kind))[0].log
    return None


@lru_cache(maxsize=64)
def perceived_video(case: bm.Case, parameters: Perception) -> tuple[ExaminedVideo, Perceived]:
    """A case's video with the results of perception, and the record that follows from them.

    The last ones are cached (0.6 MiB each): logs, reliability and pages of the report use the same videos.
    """
    proposed = decode_proposals((case.source, case.record))
    video = examined(proposed, case.source, camera=parameters.camera)
    return video, recorded(video, belief=parameters.belief)


def logs(case: bm.Case, parameters: Perception) -> list[bm.NamedLog]:
    """A video's log, perceived from its proposals."""
    return [
        bm.NamedLog(f"{case.scene:05d}", perceived_log(*perceived_video(case, parameters), parameters.belief))
    ]


def rows(case: bm.Case, logs: bm.Logs, parameters: Perception, split: str) -> Iterable[Row]:
    """The rows of a video's questions."""
    questions = _questions.decode(case.questions).questions
    return bm.named_rows(NAME, answer_scene, logs[0], int(case.scene), questions, parameters, split)


def video_page(case: bm.Case, parameters: Perception, rows: Sequence[Row]) -> bm.SceneShown:
    """A video for its page: proposals, tracks, events beside the truth, what wrong answers were lost to."""
    (video, perceived), truth = perceived_video(case, parameters), truth_of(case)
    questions = {question.question_id: question for question in _questions.decode(case.questions).questions}
    events = happenings(perceived, gold_of(truth) if truth else None)
    losses: list[tuple[str, tuple[str, str] | None]] = []
    for row in rows:
        question = questions[int(row.question)]
        loss = lost(video, perceived, truth, question, parameters) if truth and row.correct is False else None
        losses.append((question.question, loss))
    tracks = {"seen": video.seen, "drawn": list(drawn(video, parameters.belief)), "slips": list(slips(video))}
    return bm.SceneShown(PAGE, {**tracks, "events": events}, timeline(video, events), losses)


def make_scene(number: int, seed: int, _: Any) -> bytes:
    """A generated scene with its proposals."""
    return encode_scene(seen_files(number, seed))


SEEN = bm.Source(
    name=NAME,
    title="CLEVRER, from NS-DR's proposals",
    about="Masks and labels of each frame, as NS-DR's released proposals have them: a user's copy, or "
    "generated scenes as a detector with its measured slips sees them.",
    data=PerceivedData,
    inputs={
        "proposals": ("proposals.zip", "proposals"),
        "annotations": ("annotation.zip",),
        "events": ("events.jsonl",),
        "questions": ("validation.json", "questions.json"),
    },
    cases=cases,
    official=bm.Release("validation", "validation split"),
    world=(
        bm.World(
            numbers=lambda data: range(data.first_scene, data.first_scene + data.scenes),
            make=make_scene,
            write=write_release,
            about="CLEVRER's scenes as a detector with measured slips sees them, with gold of their own.",
            first=10000,
            needs=("bullet",),
        ),
    ),
    profiles=BOTH,
    note=", read from a detector's masks and labels of each frame, never from an annotation",
)
# Logs depend on the camera and the belief; answers depend on CLEVRER's own parameters.
PARAMETERS = bm.Section(NAME, Perception, Parameters.__struct_fields__)
PERCEIVED = bm.Explained(
    name=NAME,
    title="CLEVRER, from NS-DR's proposals",
    numbers=(
        "perceived/descriptive/per_question",
        *bm.per_choice(NAME, "explanatory", "counterfactual", "predictive"),
    ),
    form=f"{NAME}/SCENE/QUESTION",
    table=(clevrer.TABLE, 1),
    source=SEEN,
    logger=bm.Logger(
        name=NAME,
        about="One event log a video, perceived: with how sure each event is and what that rests on.",
        source=SEEN,
        logs=logs,
        parameters=PARAMETERS,
        depends_on=("perceived.camera", "perceived.belief"),
        shapes="clevrer",
    ),
    parameters=PARAMETERS,
    rows=rows,
    explain=partial(clevrer.explain_asked, SceneQuestions, explain_perceived),
    picture=clevrer.picture,
    wordings=clevrer.wordings,
    examples={"CLEVRER from proposals, explanatory": "explanatory"},
    pages=(bm.ScenePages("videos", 24, video_page),),
    declared={"logs": lambda data: data.scenes},
    about={
        "answers": "A row a question: predicted from the perceived log, expected, and the log.",
        "scores": "Per-question and per-option accuracy of each subset, with Wilson's interval.",
        MEASURED_ON: "the same questions, NS-DR's proposals; weights were fitted to 469 of these videos",
    },
)
