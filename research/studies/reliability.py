"""Probabilities compared with the truth: of choices about imagined worlds, and of perceived events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, get_args

import msgspec
from markupsafe import Markup
from msgspec.structs import replace

from orchestration.benchmarks.benchmark import Case, Interpreted, Logs
from orchestration.benchmarks.clevrer import CLEVRER
from orchestration.rendering.tables import read_list
from orchestration.studies.study import Part, Study
from research.benchmarks import GENERATED
from research.benchmarks.perceived import PERCEIVED, perceived_video, truth_of
from research.domains.calibration import TENTHS, Bin, binned, brier
from research.domains.perception.judge import Kind, gold_of, hypotheses
from research.domains.perception.parameters import Perception
from research.studies.figures import reliability_diagram
from research.studies.sizes import SIZES
from substrate.base.errors import ProgramError
from substrate.base.files import write_json
from substrate.domains.clevrer.answers import choice_program, in_order
from substrate.domains.clevrer.explain import Chances, ground_of
from substrate.domains.clevrer.format import Question, SceneQuestions
from substrate.domains.clevrer.parameters import Counterfactual, Parameters, Predictive
from substrate.domains.clevrer.program import World, run
from substrate.domains.clevrer.scene import Scene

SUBSETS = ("predictive", "counterfactual")
EVENTS: tuple[str, ...] = get_args(Kind)


class Drawn(NamedTuple):
    """A section of the report from a study: heading, explanation, figure, and its counts in words.

    Attributes:
        name: the benchmark whose data it shows.
    """

    name: str
    title: str
    about: str
    figure: Any
    lines: Sequence[str]


class Chance(msgspec.Struct, frozen=True, kw_only=True):
    """A choice or a possible event: its stated probability, and whether it is correct or happened."""

    benchmark: str = CLEVRER.name
    split: str
    subset: str
    scene: int | str
    question: int
    choice: int
    probability: float
    correct: bool
    log: str


class Reliability(msgspec.Struct, frozen=True):
    """The agreement of probabilities with the truth.

    Attributes:
        brier: the mean squared difference of the two.
        plain: the same if every probability were rounded to 0 or 1.
        constant: the same if every probability were the overall share that is correct.
    """

    subset: str
    n: int
    brier: float
    plain: float
    constant: float
    bins: list[Bin]


class ChoiceProbability(NamedTuple):
    """The stated probability that a choice of a question is correct."""

    question: int
    choice: int
    probability: float


def choice_probabilities(world: World, questions: Iterable[Question]) -> list[ChoiceProbability]:
    """The probability of each choice that the ensemble can judge; gold is not read."""
    chances = Chances(world, ground_of)
    probabilities: list[ChoiceProbability] = []
    for question in questions:
        for choice in in_order(question.choices or ()):
            program = choice_program(question.program, choice)
            try:
                answer = run(program, world)
            except ProgramError:
                continue
            chance = chances.of(program, answer)
            if chance is not None:
                correct = chance if answer == "yes" else 1 - chance
                pair = question.question_id, choice.choice_id
                probabilities.append(ChoiceProbability(*pair, round(correct, 3)))
    return probabilities


def rows(case: Case, logs: Logs, parameters: Parameters, split: str) -> Iterator[Chance]:
    """A row for each choice to which the ensemble gives a probability; gold is read after all of these."""
    simulated = replace(parameters, predictive=Predictive("S"), counterfactual=Counterfactual("simulated"))
    scene = Scene(logs[0])
    if not scene.poses:
        return
    questions = msgspec.json.decode(case.questions, type=SceneQuestions).questions
    imagined = [question for question in questions if question.question_type in SUBSETS]
    chances = choice_probabilities(World(scene, simulated), imagined)
    gold = {
        (q.question_id, c.choice_id): (q.question_type, c.answer) for q in imagined for c in q.choices or ()
    }
    common = {"split": split, "scene": case.scene, "log": logs[0].digest}
    for chance in sorted(chances):
        subset, answer = gold[chance.question, chance.choice]
        if answer is not None:
            asked_of = {"subset": subset, "question": chance.question, "choice": chance.choice}
            yield Chance(**common, **asked_of, probability=chance.probability, correct=answer == "correct")


def _expected(case: Case) -> Mapping[str, int]:
    """Count a case's choices with gold about worlds that were not filmed; none without motion."""
    if case.kind or not case.questions:
        return {}
    counts: Counter[str] = Counter()
    for question in msgspec.json.decode(case.questions, type=SceneQuestions).questions:
        if question.question_type in SUBSETS:
            counts[question.question_type] += sum(c.answer is not None for c in question.choices or ())
    return counts


def perceived_rows(case: Case, logs: Logs, parameters: Perception, split: str) -> Iterator[Chance]:
    """A row for each event that a video may have had, if its true events are known."""
    truth = truth_of(case)
    if truth is None:
        return
    events = hypotheses(perceived_video(case, parameters)[1], gold_of(truth))
    common = {"benchmark": PERCEIVED.name, "split": split, "scene": case.scene, "log": logs[0].digest}
    for number, hypothesis in enumerate(sorted(events, key=lambda event: EVENTS.index(event.kind))):
        asked_of = {"subset": hypothesis.kind, "question": number, "choice": 0}
        yield Chance(**common, **asked_of, probability=hypothesis.probability, correct=hypothesis.true)


def _hypotheses(case: Case) -> Mapping[str, int]:
    """Count the events that a video may have had; none if its true events are not known.

    Other constants give more or fewer events, but never none.
    """
    truth = truth_of(case)
    if not truth:
        return {}
    return Counter(event.kind for event in hypotheses(perceived_video(case, Perception())[1], gold_of(truth)))


def reliability_of(subset: str, chances: Iterable[Chance]) -> Reliability:
    """The Brier score and the bins, of equal width; empty ones are left out.

    >>> sure, unsure = (Chance(split="", subset="predictive", scene=1, question=1, choice=choice, log="",
    ...     probability=share, correct=True) for choice, share in enumerate((0.9, 0.4)))
    >>> scored = reliability_of("predictive", [sure, unsure])
    >>> scored.brier, scored.plain, scored.constant, len(scored.bins)
    (0.185, 0.5, 0.0, 2)
    """
    pairs = [(chance.probability, chance.correct) for chance in chances]
    if not pairs:
        return Reliability(subset, 0, 0.0, 0.0, 0.0, [])
    # The smallest first, so that the sums do not depend on the order of the rows.
    pairs.sort(key=itemgetter(0))
    common = sum(true for _, true in pairs) / len(pairs)
    bins = [replace(each, said=round(each.said, 6)) for each in binned(pairs, TENTHS).values()]
    plain = brier([(float(chance >= 0.5), true) for chance, true in pairs])
    constant = round(common * (1 - common), 6)
    return Reliability(subset, len(pairs), round(brier(pairs), 6), round(plain, 6), constant, bins)


def bins_file(part: str) -> str:
    """The path of the counts that the diagram of a part is drawn from."""
    return f"artifacts/{{profile}}/reliability/{'' if part == CLEVRER.name else f'{part}-'}bins.json"


def _part(base: Interpreted, about: str, **own: Any) -> Part:
    return Part(
        name=base.name,
        base=base,
        about=f"{about}: rows, bins with the Brier score, and the reliability diagram.",
        shown=(bins_file(base.name), f"artifacts/{{profile}}/reliability/{base.name}.svg"),
        **own,
    )


def draw_reliability(rows: Path, bins: Path, figure: Path) -> dict[str, Any]:
    """Count correct choices in bins of probability; write the bins and their diagram."""
    chances = [msgspec.json.decode(line, type=Chance) for line in rows.read_bytes().splitlines()]
    reliabilities = [
        reliability_of(subset, (chance for chance in chances if chance.subset == subset))
        for subset in (*SUBSETS, *EVENTS)
        if any(chance.subset == subset for chance in chances)
    ]
    write_json(bins, reliabilities, indent=1)
    series = {reliability.subset: reliability.bins for reliability in reliabilities}
    figure.write_text(reliability_diagram("reliability", series, alone=True), "utf-8")
    return {reliability.subset: in_words(reliability) for reliability in reliabilities}


def in_words(reliability: Reliability) -> str:
    """A subset's Brier score beside those of rounded and of constant probabilities, in words."""
    what = "" if reliability.subset in EVENTS else " choices"
    return (
        f"{reliability.subset}: {reliability.n:,}{what}, Brier score {reliability.brier:.4f} "
        f"({reliability.plain:.4f} if the likelier of 0 and 1 were stated, {reliability.constant:.4f} if "
        "the overall share were)"
    )


def sections(workspace: Any) -> Iterator[Drawn]:
    """For each part of the study that gave a probability: the report's diagram of all subsets, and a line of
    words for each subset.
    """
    for part in RELIABILITY.parts:
        counted = read_list(workspace.path(bins_file(part.name)), Reliability)
        if reliabilities := [reliability for reliability in counted if reliability.n]:
            series = {reliability.subset: reliability.bins for reliability in reliabilities}
            drawn = Markup(reliability_diagram(f"reliability-{part.name}", series))
            yield Drawn(part.name, *HEADINGS[part.name], drawn, list(map(in_words, reliabilities)))


HEADINGS = {
    CLEVRER.name: (
        "How sure answers about imagined worlds are",
        "An answer that a simulated fork gives has a probability: the share in which it holds of an ensemble "
        "of forks, each with the constants of the law, the masses and the poses off by what they may be.",
    ),
    PERCEIVED.name: (
        "How sure perceived events are",
        "An event that a video may have had has a probability, by what speaks for it in a detector's masks; "
        "those that are not likely stand in the log as suspected. Here each is held beside what happened.",
    ),
}
"""By benchmark, the heading of its probabilities in the report, and an explanation."""


RELIABILITY = Study(
    name="reliability",
    profiles=GENERATED,
    parts=(
        _part(
            CLEVRER,
            "The probability of each choice about a world that was not filmed, beside whether it is correct",
            rows=rows,
            expected=_expected,
            size_key="reliability",
        ),
        _part(
            PERCEIVED,
            "The probability of each event that a video may have had, beside whether it happened, where that "
            "is known",
            rows=perceived_rows,
            expected=_hypotheses,
            keys=PERCEIVED.logger.depends_on,
            size_key="perceived",
            uncounted=EVENTS,
        ),
    ),
    parameters=SIZES,
    draw=draw_reliability,
    sections=sections,
)
