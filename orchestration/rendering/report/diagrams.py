"""The paper's three figures, drawn on a :class:`.Sheet` from the data of a run.

Each has a record of its data and a function that draws it: :class:`AskedOfBoth` and :func:`parametric`,
:class:`Domain` and :func:`cross_domain`, a village's :class:`.Experiment` and :func:`forked`.
"""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from orchestration.models.exchange import Exchange
from orchestration.rendering.figures import MEASURED, MUTED, NS_DR
from orchestration.rendering.report.sheet import WIDTH, Line, Sheet, code, delta_line, head
from substrate import TBox, unfold
from substrate.ask import Answer, survey
from substrate.ask.questions import TEMPLATES
from substrate.base.vocabulary import RDF_TYPE
from substrate.cause.explanation import OWN, Evidence, ExplainedStep, Explanation, short
from substrate.domains.rows import Row
from substrate.domains.smallville.experiment import HORIZON, Experiment
from substrate.log.event_log import EventLog, Op
from substrate.log.history import Interval

# The most deltas that a box shows; the rest are only counted.
_MOST = 14


def _clipped(text: str, most: int = 150) -> str:
    return textwrap.shorten(text, most, placeholder=" …")


class AskedOfBoth(NamedTuple):
    """A question that the substrate and a language model were asked for each arm of a fork.

    Attributes:
        arms: the names of the arms.
        whys: the explanations of the substrate's answers, one per arm.
        rows: these answers.
        title: the benchmark and the first answer's name.
        replied: the model's answers with the requests behind them; empty if no model was asked.
    """

    arms: Sequence[str]
    whys: Sequence[Explanation]
    rows: Sequence[Row]
    title: str
    replied: Sequence[tuple[Row, Sequence[Exchange]]]


def parametric(both: AskedOfBoth) -> str:
    """Draw the paper's first figure: what the substrate and a parametric model hold, do and say."""
    sheet = Sheet()
    sheet.row([head("One question, without and with do(X)"), Line(both.whys[0].question)])
    for pair in zip(_by_log(both), _by_prompt(both), strict=True):
        sheet.row(*pair, edges=(MEASURED, NS_DR))
    return sheet.svg("The substrate beside a parametric model, both asked the same question.")


def _by_log(both: AskedOfBoth) -> Iterator[list[Line]]:
    first, last = both.whys[0], both.whys[-1]
    log, arm, forked = first.logs[OWN], last.logs[OWN], last.parts[0].steps[0]
    last_steps = [(why, why.parts[0].steps[-1]) for why in both.whys]
    at = min((piece.position for piece in forked.evidence), default=0)
    before = ExplainedStep("", "", evidence=tuple(map(Evidence, range(max(0, at - 3), at))))
    yield [head("Substrate: a typed event log"), _log(log), *_deltas(last, before)]
    yield [head(f"do(X) at {', '.join(forked.took)}: deltas"), Line(forked.gave), *_deltas(last, forked)]
    yield [head("Deterministic replay"), _log(arm)]
    lines = (line for why, step in last_steps for line in (Line(step.gave), *_deltas(why, step)))
    yield [head("Asked of each arm, with the deltas behind it"), *lines]
    yield _verdicts(both.arms, both.rows)


def _by_prompt(both: AskedOfBoth) -> Iterator[list[Line]]:
    told = [exchange for _, requests in both.replied for exchange in requests]
    prompts = [exchange.request["messages"][-1]["text"].splitlines() for exchange in told] or [[]]
    model = told[0].request["model"] if told else "no model was asked in this run"
    replies = [exchange.reply for exchange in told]
    tokens = " and ".join(f"{reply.prompt_tokens:,}" for reply in replies)
    same = Line(f"the same in words, {tokens} tokens" if told else "")
    yield [head(f"Parametric: {model}"), same, code(_clipped(" ".join(prompts[0])))]
    others = (code(_clipped(text, 250)) for text in prompts[-1] if text not in prompts[0])
    yield [head("do(X) in words: a second prompt"), *others]
    weights = {f"not shown; weights {reply.by.weights[:19]}…" for reply in replies}
    yield [head("A latent state"), Line("".join(weights))]
    yield [head("Its replies"), *(code(_clipped(reply.error or reply.content)) for reply in replies)]
    yield _verdicts(both.arms, [row for row, _ in both.replied])


def _log(log: EventLog) -> Line:
    return Line(f"{len(log):,} deltas up to tick {log.last_tick}, {log.digest[:19]}…")


def _deltas(why: Explanation, step: ExplainedStep) -> Iterator[Line]:
    """The deltas behind a step, and the patterns that it searched in vain."""
    for piece in step.evidence[:_MOST]:
        tick, op, (subject, predicate, value) = why.delta(piece)
        verb = "a" if predicate == RDF_TYPE else short(predicate, why.names)
        yield delta_line(tick, op, f"{short(subject, why.names)} {verb} {short(value, why.names)}")
    for pattern in step.missed:
        yield code(f"    no delta {pattern}", " " * 6)


def _verdicts(arms: Sequence[str], rows: Sequence[Row]) -> list[Line]:
    words = {True: "right", False: "wrong", None: "no gold"}
    pairs = zip(arms, rows, strict=False)
    verdicts = [head(f"arm {arm}: {row.predicted}, {words[row.correct]}") for arm, row in pairs]
    return verdicts or [head("not measured")]


# The functions that make a domain's log and answer questions about it; only the TBox differs between domains.
INTERPRETER = survey, unfold


class Domain(NamedTuple):
    """A domain: its TBox, the length of the log that its rules produce, and its answers by template."""

    name: str
    turtle: str
    deltas: int
    digest: str
    answers: dict[str, list[Answer]]


def domains_of(names: Iterable[str] = ("village", "clinical")) -> list[Domain]:
    """Every question template asked of each domain; answers with evidence come first.

    >>> [sorted(domain.answers) == sorted(TEMPLATES) for domain in domains_of()]
    [True, True]
    """
    domains: list[Domain] = []
    for name in names:
        tbox = TBox.load(name)
        log = unfold(tbox, tbox.opening(), until=HORIZON)
        answers = sorted(survey(tbox, log), key=lambda answer: not answer.evidence)
        by_template = {asked: [each for each in answers if each.template == asked] for asked in TEMPLATES}
        turtle = f"sha256:{hashlib.sha256(tbox.turtle.encode()).hexdigest()}"
        domains.append(Domain(name, turtle, len(log), log.digest, by_template))
    return domains


def cross_domain(domains: Sequence[Domain], lines: int) -> str:
    """Draw the paper's second figure: an interpreter, and its answers from the log of each TBox.

    Args:
        lines: the interpreter's lines of code.
    """
    sheet, boxes = Sheet(), list[list[Line]]()
    for domain in domains:
        log = Line(f"its log: {domain.deltas:,} deltas, {domain.digest[:19]}…")
        boxes.append([head(f"{domain.name}.ttl"), code(f"{domain.turtle[:19]}…"), log])
    sheet.row(*boxes, edges=(MEASURED, NS_DR))
    templates = ", ".join(name.replace("_", " ") for name in domains[0].answers)
    interpreter = f"One interpreter, {lines:,} lines of code: {len(domains[0].answers)} question templates"
    sheet.row([head(interpreter), Line(templates)])
    for number, template in enumerate(domains[0].answers):
        firsts = [domain.answers[template][0] for domain in domains]
        cells = [[Line(_clipped(answer.question)), head(_clipped(answer.answer))] for answer in firsts]
        sheet.row(*cells, edges=(MEASURED, NS_DR), arrows=not number)
    return sheet.svg("One interpreter answers of two domains; they differ in their TBox alone.")


def forked(fork: Experiment) -> str:
    """Draw the paper's third figure: a log, its fork, and the deltas that only one arm has."""
    sheet, (shared, arm_a, arm_b) = Sheet(), (64, 32, 96)  # the heights of the three lines

    def x(tick: float) -> float:
        """The place of a tick from the left; rounded twice, so that no byte depends on the machine."""
        return round(round(3 + 94 / (1 + fork.last) * tick, 2) * WIDTH / 100, 1)

    leaves, branch = x(fork.branch - 0.6), x(fork.branch)
    sheet.path(f"M0 {shared}H{leaves:g}L{branch:g} {arm_a}H{WIDTH}", MUTED)
    sheet.path(f"M{leaves:g} {shared}L{branch:g} {arm_b}H{WIDTH}", NS_DR)
    sheet.words(0, shared - 18, Line("shared log"))
    sheet.words(WIDTH, arm_a - 18, Line("arm A: no intervention"), "end")
    sheet.words(WIDTH, arm_b + 32, Line("arm B: do(X)", colour=NS_DR), "end")
    for tick in fork.ticks:
        # From the branch on, ticks lie one further: the fork takes the width of one.
        at = x(tick.tick + (tick.tick >= fork.branch))
        for y, events, prime in ((shared, tick.prefix, ""), (arm_a, tick.a, ""), (arm_b, tick.b, "'")):
            if events:
                colour = NS_DR if any(not event.shared for event in events) and not tick.prefix else MUTED
                sheet.path(f"M{at - 4:g} {y}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", colour, colour)
                sheet.words(at, y + 17, Line(f"{tick.tick}{prime}", colour=MUTED), "middle")
    star = "m0 -9l2.6 6.2 6.6 .6 -5 4.4 1.5 6.5 -5.7 -3.5 -5.7 3.5 1.5 -6.5 -5 -4.4 6.6 -.6z"
    sheet.path(f"M{branch:g} {arm_b}{star}", NS_DR, NS_DR)
    sheet.bottom = arm_b + 34
    query = [Line(fork.asked)] if fork.asked else []
    act = Line(f"At tick {fork.branch}: {fork.intervention}", "font-weight:600", NS_DR)
    sheet.row([act, *query], arrows=False)
    # A fact comes with its spans in arm A and in arm B.
    in_a = {delta for fact, spans, _ in fork.facts for delta in _changes(fact, spans)}
    in_b = {delta for fact, _, spans in fork.facts for delta in _changes(fact, spans)}
    columns: list[list[Line]] = []
    for arm, only in (("A", in_a - in_b), ("B", in_b - in_a)):
        answered = f", which answers {answer}" if (answer := fork.answers.get(arm.lower())) else ""
        in_order = sorted(only, key=lambda delta: (*delta[:2], delta[2].value))
        deltas = [delta_line(tick, op, fact) for tick, fact, op in in_order[:_MOST]]
        more = [Line(f"and {len(only) - _MOST} more")] if len(only) > _MOST else []
        columns.append([head(f"{len(only)} deltas of arm {arm} alone{answered}"), *deltas, *more])
    sheet.row(*columns, edges=(MUTED, NS_DR), arrows=False)
    return sheet.svg(f"A log that forks at tick {fork.branch}, and the deltas in which its arms differ.")


def _changes(fact: str, spans: Iterable[Interval]) -> set[tuple[int, str, Op]]:
    """The deltas with which a fact begins and ends to hold."""
    begun = {(start, fact, Op.INSERT) for start, _ in spans}
    return begun | {(stop, fact, Op.RETRACT) for _, stop in spans if stop is not None}
