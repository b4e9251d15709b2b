"""Questions made from the true events of real videos, answered from these events and from proposals.

A case has two fields of bytes, which elsewhere hold an observation and the questions about it. Here
``questions`` hold the scene's true events, as a line of a file of events: the questions and their gold are
made from these when they are asked (:func:`_truth`). And ``record`` holds the detector's proposals; it is
empty for a video without them. The log of a video's proposals is made from the record only, so no code that
perceives reads the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from orchestration.benchmarks import benchmark as bm
from orchestration.benchmarks.real import MEASURED_ON
from orchestration.scoring.counting import METRICS, RIGHT, Metric, Rows
from research.benchmarks import OFFICIAL, filmed
from research.benchmarks.perceived import PARAMETERS, perceived_video
from research.domains.perception.format import proposal_names
from research.domains.perception.log import perceived_log, read_back
from research.domains.perception.parameters import Perception
from research.domains.possible import answer_possible
from research.generators.from_truth import DEEPEST, depth_of, descriptive, explanatory
from substrate.domains.clevrer import format
from substrate.domains.clevrer.answers import answer_scene
from substrate.domains.clevrer.deltas import events_log
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.rows import Row

SEED = 20
"""The seed that picks the questions and words them."""
TRUTH, DETECTIONS, WORLDS, SHARING = "truth", "detections", "worlds", "sharing"
"""The sources of answers: the true events, the most probable perceived log, all possible perceived logs, and
a method that follows no chain.
"""
CONSTANTS = frozenset({"yes", "1", "gray", "rubber", "cube"})
"""The constant answers to each kind of descriptive question."""
MADE_HERE = (
    "made here of true events: every 20th video and those kept aside; gold by counting; weights of "
    "perception were fitted to 51 of the 226 with proposals"
)
"""The basis of the numbers in the profile `real`."""


def cases(files: bm.Files, only: Collection[Any] | None = None, unasked: bool = False) -> bm.Cases:
    """The sampled scenes with a collision; the record has the proposals, the questions the true events."""
    truths = filmed.true_events(files, ("train", "test"))
    videos = proposal_names(files["proposals"]) if "proposals" in files else {}
    candidates = [n for n in truths if filmed.sampled(n, n in videos) and filmed.has_collision(truths[n])]
    scenes = bm.chosen(candidates, only)

    def each() -> Iterator[bm.Case]:
        sources = filmed.proposals_of(files, [videos[scene] for scene in scenes if scene in videos])
        for scene in scenes:
            where, truth = truths[scene]
            source, record = next(sources) if scene in videos else (where, b"")
            yield bm.Case(scene, source, record, truth)

    return bm.Cases(len(scenes), each())


def logs(case: bm.Case, parameters: Perception) -> list[bm.NamedLog]:
    """A scene's log of its true events, and the perceived log of any proposals."""
    made = [bm.NamedLog(f"{case.scene:05d}", events_log(_truth(case)))]
    if case.record:
        # Without the true events, so that perception cannot read them
        seen = perceived_log(*perceived_video(case._replace(questions=b""), parameters), parameters.belief)
        made.append(bm.NamedLog(f"{case.scene:05d}/perceived", seen))
    return made


def _truth(case: bm.Case) -> format.SceneEvents:
    """The true events of a scene, which stand in place of its questions."""
    return format.decode_scene_events((case.source, case.questions))


def _rows(
    name: str,
    case: bm.Case,
    logs: bm.Logs,
    questions: list[format.Question],
    parameters: Parameters,
    split: str,
) -> Iterator[Row]:
    """The rows of a scene's questions: from the true events and, if any are perceived, from the perceived
    events and from all possible ones.
    """
    for who, log in zip((TRUTH, DETECTIONS), logs, strict=False):
        for row in answer_scene(log, int(case.scene), questions, parameters, split):
            yield replace(row, benchmark=name, subset=who)
    for seen in logs[1:]:
        for row in answer_possible(read_back(seen, int(case.scene)), questions, parameters, split):
            yield replace(_without_probabilities(row), benchmark=name, subset=WORLDS, log=seen.digest)


def _without_probabilities(row: Row) -> Row:
    """The row without probabilities: the sources of answers are compared by correct answers only."""
    choices = [replace(choice, probability=UNSET) for choice in row.choices or ()]
    return replace(row, choices=choices or UNSET, probability=UNSET)


def _by_question(row: Row) -> int:
    return int(row.question)


def descriptive_rows(case: bm.Case, logs: bm.Logs, parameters: Parameters, split: str) -> Iterable[Row]:
    """The rows of the descriptive questions made from a scene's true events."""
    questions = descriptive(_truth(case), SEED)
    return sorted(_rows("descriptive", case, logs, questions, parameters, split), key=_by_question)


def explanatory_rows(case: bm.Case, logs: bm.Logs, parameters: Parameters, split: str) -> Iterable[Row]:
    """The rows of the questions about each collision of a scene, by each source of answers.

    The source :data:`SHARING` answers that a cause is responsible if it shares an object with the collision.
    """
    questions, shared = (explanatory(_truth(case), SEED, sharing=sharing) for sharing in (False, True))
    rows = list(_rows("from_truth", case, logs, questions, parameters, split))
    # The first rows are those of the true events, one per question.
    for row, rival in zip(rows[: len(questions)], shared, strict=True):
        pairs = zip(rival.choices or (), row.choices or (), strict=True)
        verdicts = [(str(choice.answer), str(true.expected)) for choice, true in pairs]
        rows.append(replace(row, subset=SHARING, **filmed.compared_fields(verdicts)))
    return sorted(rows, key=_by_question)


def wordings(
    made: Callable[[format.SceneEvents, int], list[format.Question]], subsets: Sequence[str], case: bm.Case
) -> Iterator[bm.Wording]:
    """The questions of a scene in words."""
    for question in made(_truth(case), SEED):
        choices = tuple(choice.choice for choice in question.choices or ())
        for subset in subsets if case.record else [who for who in subsets if who in (TRUTH, SHARING)]:
            yield bm.Wording(str(question.question_id), question.question, choices, subset)


def constant(rows: Rows) -> tuple[int, int]:
    """The score of the constant answers to descriptive questions."""
    return int(rows[0].expected in CONSTANTS), 1


def always_says_wrong(rows: Rows) -> tuple[int, int]:
    """The score of answering "wrong" to each option."""
    choices = rows[0].choices
    return sum(choice.expected == "wrong" for choice in choices), len(choices)


def of_depth(depth: int, rows: Rows) -> tuple[int, int]:
    """The score of a row, among questions about a chain of ``depth`` collisions."""
    return RIGHT.measure(rows) if depth_of(int(rows[0].question)) == depth else (0, 0)


CHAINS = {f"chain_{depth}": partial(of_depth, depth) for depth in range(DEEPEST + 1)}
TRUTHS = bm.Source(
    name="truths",
    title="True events of real videos",
    about="True events of real videos, and a detector's proposals of some: the files a user has of them.",
    data=filmed.FilmedData,
    inputs={name: filmed.INPUTS[name] for name in ("train", "test", "proposals")},
    cases=cases,
    official=bm.Release("train", "videos with true events"),
    note=f", every {filmed.EVERY}th scene and, of those with proposals, each that is kept from every fit of "
    "perception; the questions are made here, their gold counted from the true events and by no program; "
    "of all possible events those count in which a question's program runs",
    profiles=OFFICIAL,
)
_LOGGER = bm.Logger(
    name="truths",
    about="Two event logs a video: of its true events, and, where it has proposals, as it is perceived.",
    source=TRUTHS,
    logs=logs,
    parameters=PARAMETERS,
    depends_on=("perceived.camera", "perceived.belief"),
    shapes="clevrer",
)
DESCRIPTIVE = bm.Interpreted(
    name="descriptive",
    title="Descriptive questions about real videos",
    numbers=(
        "descriptive/truth/accuracy",
        "descriptive/detections/accuracy",
        "descriptive/detections/kept_out",
        "descriptive/worlds/accuracy",
        "descriptive/worlds/kept_out",
        "descriptive/truth/constant",
    ),
    form="descriptive/truth|detections|worlds/SCENE/QUESTION",
    table=(filmed.TABLE, 0),
    source=TRUTHS,
    logger=_LOGGER,
    parameters=PARAMETERS,
    rows=descriptive_rows,
    wordings=partial(wordings, descriptive, (TRUTH, DETECTIONS, WORLDS)),
    metrics={"accuracy": RIGHT, "kept_out": Metric(filmed.kept_out), "constant": Metric(constant)},
    no_interval=(TRUTH,),
    about={
        "answers": "A row a question: answered from the true, the perceived, and all possible events.",
        "scores": "Accuracy from true, perceived and all possible events; the true ones have no interval.",
        MEASURED_ON: MADE_HERE,
    },
)
FROM_TRUTH = bm.Interpreted(
    name="from_truth",
    title="Explanations of each collision of real videos",
    numbers=(
        *bm.per_choice("from_truth", TRUTH, DETECTIONS, WORLDS),
        "from_truth/detections/kept_out",
        "from_truth/worlds/kept_out",
        *(f"from_truth/detections/{chain}" for chain in CHAINS),
        *bm.per_choice("from_truth", SHARING),
        *(f"from_truth/sharing/{chain}" for chain in CHAINS),
        "from_truth/truth/always_wrong",
    ),
    form="from_truth/truth|detections|worlds|sharing/SCENE/QUESTION",
    table=(filmed.TABLE, 1),
    source=TRUTHS,
    logger=_LOGGER,
    parameters=PARAMETERS,
    rows=explanatory_rows,
    wordings=partial(wordings, explanatory, (TRUTH, DETECTIONS, WORLDS, SHARING)),
    trivial={SHARING: "sharing a participant"},
    no_interval=(TRUTH,),
    metrics={
        **METRICS,
        "kept_out": Metric(filmed.kept_out),
        "always_wrong": Metric(always_says_wrong),
        **{name: Metric(measure) for name, measure in CHAINS.items()},
    },
    about={
        "answers": "A row a question: each collision explained from the true events, the perceived ones, "
        "all possible ones, and by sharing an object alone.",
        "scores": "Accuracy by source of the answers and by length of the chain, with Wilson's interval.",
        MEASURED_ON: MADE_HERE,
    },
)
