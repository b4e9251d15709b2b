"""Explain an answer by its steps, each with the deltas of a log that it rests on.

Evidence is data: the position of a delta in a log. Its tick, operation and triple are looked up in the log,
so that an explanation can only cite what the log contains.

A domain builds the data: an :class:`Explanation` has parts, a part has steps, a step has evidence. The rest
of the file puts them in words: :meth:`Explanation.text` for a terminal, :meth:`Explanation.in_words` for a
page, :meth:`Explanation.record` for a machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
from pyoxigraph import Literal, NamedNode
from pyoxigraph import Triple as TripleTerm

from substrate.base.delta import Term
from substrate.base.vocabulary import RDF_TYPE
from substrate.log.event_log import Delta, EventLog

OWN = ""
"""The name of the log that the answer was computed from, among an explanation's logs."""
ERROR = "error: "
"""The beginning of the answer if a question cannot run; the reason follows."""

_MOST_LINES = 6
"""Lines of a step's deltas in the short form."""
_MOST_CHARACTERS = 160
"""Characters of a step's inputs and result in the short form."""
_MOST_IN_LINE = 100
"""Characters of a premise, which must fit on one line of a terminal."""
_XSD = "http://www.w3.org/2001/XMLSchema#"
_BARE = {NamedNode(_XSD + name) for name in ("integer", "decimal", "double", "boolean")}


class Evidence(msgspec.Struct, frozen=True, order=True):
    """A delta that a step rests on: its position in one of the explanation's logs.

    >>> sorted([Evidence(4), Evidence(1)])[0].position
    1
    """

    position: int
    log: str = OWN


class ExplainedStep(msgspec.Struct, frozen=True):
    """A step to an answer.

    Attributes:
        name: the operation, as a program's token or a few words.
        gave: the result.
        took: the inputs.
        query: the SPARQL query that read the state, and its tick.
        evidence: the deltas behind the result, in the order of their logs.
        missed: patterns that matched nothing, if that is the reason.
        about: the individuals in the result. An individual of a log is ``(its IRI,)``; an event that is in
            no log is the IRIs of its participants.
    """

    name: str
    gave: str
    took: tuple[str, ...] = ()
    query: str = ""
    evidence: tuple[Evidence, ...] = ()
    missed: tuple[str, ...] = ()
    about: tuple[tuple[str, ...], ...] = ()


class ExplainedPart(msgspec.Struct, frozen=True):
    """The steps to one part of an answer, such as one of several choices, or to the whole answer.

    Attributes:
        title: the part's name, such as ``choice 0``; empty for the whole answer.
        steps: the steps in order, counted from 0 as in errors.
        answer: the part's answer; :data:`ERROR` and the reason if it cannot run.
        ground: how sure the answer is, if known.
        said: the part as the question words it, such as a choice's text.
        probability: the probability that the answer is right, from an ensemble; else ``None``.
        rule: the name of the rule that decided.
    """

    title: str
    steps: tuple[ExplainedStep, ...]
    answer: str
    ground: str = ""
    said: str = ""
    probability: float | None = None
    rule: str = ""

    @property
    def heading(self) -> str:
        """The part's title and its words."""
        return f"{self.title}, {self.said}" if self.said else self.title

    @property
    def surety(self) -> str:
        """The ground, with the probability if there is one."""
        if self.probability is None:
            return self.ground
        return f"{self.ground}, probability {self.probability:g}"


class _DeltaInWords(NamedTuple):
    """A delta in words. Deltas with one start, which is their tick, operation and subject, share a line."""

    start: str
    statement: str


class StepInWords(NamedTuple):
    """A step as a reader sees it: texts are clipped, and each reason is a line instead of evidence."""

    name: str
    took: str
    gave: str
    query: str
    reasons: list[str]


class Explanation(msgspec.Struct, frozen=True):
    """An answer with its reasons.

    Attributes:
        question: the question in words.
        answer: the answer as in its row; ``error: …``, with the reason, if the question cannot run.
        parts: the steps to the answer, in one or several parts.
        logs: the logs of the evidence: the answer's own log as ``""``, a fork or another arm by its name.
        names: abbreviations for IRIs: the short text for each beginning of an IRI.
        called: individuals in words, by IRI: an object's look, or an event's participants and time.

    >>> from pyoxigraph import Literal, NamedNode
    >>> from substrate import Delta, EventLog, Op
    >>> ann, at, home = NamedNode("urn:ann"), NamedNode("urn:at"), Literal("home")
    >>> log = EventLog([Delta(tick=3, op=Op.INSERT, triple=(ann, at, home))])
    >>> step = ExplainedStep("look up", "home", evidence=(Evidence(0),))
    >>> part = ExplainedPart("", (step,), "home")
    >>> why = Explanation("Where is Ann?", "home", (part,), {"": log}, names={"urn:": ""})
    >>> print(why.text(), end="")
    Where is Ann?
    answer: home
    <BLANKLINE>
      0 look up => home
          tick   3  insert   ann at "home"
    <BLANKLINE>
    log: sha256:beff86382d8e
    >>> why.evidence()
    [0]
    """

    question: str
    answer: str
    parts: tuple[ExplainedPart, ...]
    logs: Mapping[str, EventLog]
    names: Mapping[str, str] = msgspec.field(default_factory=dict)
    called: Mapping[str, str] = msgspec.field(default_factory=dict)

    def delta(self, evidence: Evidence) -> Delta:
        """The delta of a piece of evidence."""
        return self.logs[evidence.log][evidence.position]

    def evidence(self, log: str = OWN) -> list[int]:
        """The positions of a log's deltas that the answer rests on, ascending, without repeats."""
        steps = (step for part in self.parts for step in part.steps)
        return sorted({piece.position for step in steps for piece in step.evidence if piece.log == log})

    def text(self, full: bool = False) -> str:
        """The explanation for a reader: the answer, then its steps; each query is shown only once.

        Args:
            full: show whole IRIs and a line for every delta. By default names are short, a step has a few
                lines, and a line has all its deltas of one tick about one subject.
        """
        lines, queries = [self.question, f"answer: {self.answer}"], set[str]()
        for part, steps in self.in_words(full):
            lines.append("")
            if part.title:
                lines.append(f"{part.heading}: {part.answer}")
            for number, step in enumerate(steps):
                lines.append(f"{number:>3} {' '.join(filter(None, (step.name, step.took)))} => {step.gave}")
                if step.query and step.query not in queries:
                    queries.add(step.query)
                    lines += ["", *(f"      {line}" for line in step.query.splitlines()), ""]
                lines += [f"      {line}" for line in step.reasons]
            if part.ground:
                lines.append(f"    ground: {part.surety}")
        lines += ["", *(_source(name, log, full) for name, log in self.logs.items())]
        return "\n".join(lines) + "\n"

    def in_words(self, full: bool = False) -> Iterator[tuple[ExplainedPart, list[StepInWords]]]:
        """The steps of each part in words; ``full`` as for :meth:`text`."""
        for part, cited in zip(self.parts, _cited_before(self.parts), strict=True):
            steps: list[StepInWords] = []
            for step, before in zip(part.steps, cited, strict=True):
                took, gave = (text if full else _clipped(text) for text in (", ".join(step.took), step.gave))
                reasons = [*self._reasons(step, before, full)]
                steps.append(StepInWords(step.name, took, gave, step.query, reasons))
            yield part, steps

    def premises(self, part: ExplainedPart) -> list[str]:
        """The steps of a part without deltas, one line per step, with their results in words.

        A step that only names a value, such as a colour, is not a premise.
        """
        return [self._premise(step) for step in part.steps if step.name != step.gave]

    def _premise(self, step: ExplainedStep) -> str:
        phrases = [" and ".join(self.called.get(iri, "") for iri in iris) for iris in step.about]
        gave = "; ".join(phrases) if phrases and all(phrases) else step.gave
        took = "" if phrases else ", ".join(step.took)
        short = f"{step.name} {took}".rstrip() if len(took) + len(gave) < _MOST_IN_LINE else step.name
        return _clipped(f"{short} => {gave}", _MOST_IN_LINE)

    def record(self) -> dict[str, Any]:
        """The explanation for a machine, as builtins; evidence has its tick, operation and triple."""
        parts: list[dict[str, Any]] = []
        for part in self.parts:
            steps = [
                {**msgspec.to_builtins(step), "evidence": [self._piece(piece) for piece in step.evidence]}
                for step in part.steps
            ]
            parts.append({**msgspec.structs.asdict(part), "steps": steps})
        logs = {name: log.digest for name, log in self.logs.items()}
        return {"question": self.question, "answer": self.answer, "parts": parts, "logs": logs}

    def _reasons(self, step: ExplainedStep, before: str, full: bool) -> Iterator[str]:
        """The lines under a step: its deltas, or the step with the same deltas, and the missing patterns.

        Args:
            before: the earlier step with the same deltas, in words; empty if there is none.
        """
        if before:
            yield f"the deltas of {before}"
        else:
            yield from self._deltas(step.evidence, full)
        for pattern in step.missed:
            yield f"not there  {pattern}"

    def _deltas(self, evidence: Sequence[Evidence], full: bool) -> list[str]:
        """The lines of a step's deltas; in the short form, a line has all neighbours with one start."""
        deltas = [self._delta_in_words(piece, full) for piece in evidence]
        if full:
            return [" ".join(delta) for delta in deltas]
        grouped = [[*group] for _, group in groupby(deltas, key=attrgetter("start"))]
        more = sum(map(len, grouped[_MOST_LINES:]))
        lines = [f"{g[0].start} {'; '.join(d.statement for d in g)}" for g in grouped[:_MOST_LINES]]
        return [*lines, f"and {more} more"] if more else lines

    def _delta_in_words(self, piece: Evidence, full: bool) -> _DeltaInWords:
        tick, op, (subject, predicate, value) = self.delta(piece)
        where = f" of {piece.log}" if piece.log else ""
        names = {} if full else self.names
        verb = "a" if predicate == RDF_TYPE and not full else short(predicate, names)
        start = f"tick {tick:>3}{where}  {op.name.lower():<7}  {short(subject, names)}"
        return _DeltaInWords(start, f"{verb} {str(value) if full else short(value, names)}")

    def _piece(self, piece: Evidence) -> dict[str, Any]:
        tick, op, triple = self.delta(piece)
        triple_text = " ".join(map(str, triple))
        return {**msgspec.structs.asdict(piece), "tick": tick, "op": op.name.lower(), "triple": triple_text}


def short(term: Term, names: Mapping[str, str]) -> str:
    """A term for a reader: an IRI in its short form, a number or truth value without its datatype.

    Args:
        names: the short text for each beginning of an IRI; the longest matching beginning counts.

    >>> short(NamedNode("urn:village:ann"), {"urn:": "u:", "urn:village:": ""}), short(Literal(3), {})
    ('ann', '3')
    >>> short(Literal("3"), {}), short(Literal("trois", language="fr"), {})
    ('"3"', '"trois"@fr')
    """
    if isinstance(term, NamedNode):
        start = max((start for start in names if term.value.startswith(start)), key=len, default=None)
        return str(term) if start is None else names[start] + term.value[len(start) :]
    if isinstance(term, Literal):
        return term.value if term.datatype in _BARE else str(term)
    if isinstance(term, TripleTerm):
        parts = (short(part, names) for part in (term.subject, term.predicate, term.object))
        return f"<<( {' '.join(parts)} )>>"
    return str(term)


def _cited_before(parts: Sequence[ExplainedPart]) -> list[list[str]]:
    """For each step, the name of an earlier step with the same deltas; empty if there is none."""
    first: dict[tuple[Evidence, ...], tuple[ExplainedPart, int]] = {}
    cited: list[list[str]] = []
    for part in parts:
        cited.append([])
        for number, step in enumerate(part.steps):
            earlier_part, earlier = first.setdefault(step.evidence, (part, number))
            new = not step.evidence or (earlier_part is part and earlier == number)
            place = f"step {earlier}" + (f" of {earlier_part.title}" if earlier_part is not part else "")
            cited[-1].append("" if new else place)
    return cited


def _clipped(text: str, most: int = _MOST_CHARACTERS) -> str:
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0]} …"


def _source(name: str, log: EventLog, full: bool) -> str:
    end = None if full else len("sha256:") + 12
    origin = f", forked at tick {log.branch_tick} of {log.parent_digest[:end]}" if log.parent_digest else ""
    return f"{f'log of {name}' if name else 'log'}: {log.digest[:end]}{origin}"
