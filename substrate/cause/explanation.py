"""Why an answer is what it is: steps, and for each the deltas of a log that it rests on.

Evidence is data: the position of a delta in a log. Its tick, operation and triple are looked up there, so
that an explanation cannot say what the log does not hold.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec
from pyoxigraph import Literal, NamedNode
from pyoxigraph import Triple as TripleTerm

from substrate.base.vocabulary import RDF_TYPE
from substrate.log.event_log import Delta, EventLog, Term

OWN = ""
"""The name of the log that the answer was computed from, among an explanation's logs."""
ERROR = "error: "
"""The beginning of the answer where a question cannot run; the reason follows."""

_MOST_LINES = 6
"""Of one step's deltas, where they are not shown in full."""
_MOST_CHARACTERS = 160
"""Of what a step took and gave, where it is not shown in full."""
_MOST_IN_LINE = 100
"""Of a premise, which stands on one line of a terminal."""
_TABLE_HEAD = """<table class="steps"><thead><tr><th scope="col">step</th>
<th scope="col">operation</th><th scope="col">took, gave, rests on</th></tr></thead>
<tbody>"""
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
        name: what was done, a program's token or a few words.
        gave: what came out.
        took: what went in.
        query: the SPARQL that read the state, and at which tick.
        evidence: the deltas behind what came out, in the order of their logs.
        missed: patterns that were looked for in vain, where that is the reason.
        about: the individuals that came out: one that a log holds as ``(its IRI,)``, an event that no log
            holds as the IRIs of its participants.
    """

    name: str
    gave: str
    took: tuple[str, ...] = ()
    query: str = ""
    evidence: tuple[Evidence, ...] = ()
    missed: tuple[str, ...] = ()
    about: tuple[tuple[str, ...], ...] = ()


class ExplainedPart(msgspec.Struct, frozen=True):
    """The steps to one part of an answer: to a choice of several, or to the whole.

    Attributes:
        title: what the part is called, such as ``choice 0``; empty for the whole.
        steps: in the order in which they were done; they are counted from 0, as errors count them.
        answer: what this part comes to; ``error: …`` where it cannot run.
        ground: how sure the answer is, if anything says so.
        said: the part in words, such as a choice's text.
        probability: that the answer is right, where an ensemble says so; ``None`` elsewhere.
        rule: the rule that decided, by its name.
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
        """The part's title and words."""
        return f"{self.title}, {self.said}" if self.said else self.title

    @property
    def surety(self) -> str:
        """The ground, and the probability where there is one."""
        if self.probability is None:
            return self.ground
        return f"{self.ground}, probability {self.probability:g}"


class Explanation(msgspec.Struct, frozen=True):
    """An answer with its reasons.

    Attributes:
        question: the question in words.
        answer: the answer as its row has it; ``error: …``, with the reason, where it cannot run.
        parts: how it came about.
        logs: what the evidence points into: the answer's own log as ``""``, a fork or another arm by name.
        names: short names for IRIs: what is written, by how the IRI begins.
        called: individuals in words, by IRI: what an object looks like, what happened to whom and when.

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
        """The delta that a piece of evidence is."""
        return self.logs[evidence.log][evidence.position]

    def evidence(self, log: str = OWN) -> list[int]:
        """The positions in one of the logs that the answer rests on, ascending, each once."""
        steps = (step for part in self.parts for step in part.steps)
        return sorted({piece.position for step in steps for piece in step.evidence if piece.log == log})

    def text(self, full: bool = False) -> str:
        """The explanation for a reader: the answer first, then its steps; a query stands where it is new.

        Args:
            full: whole IRIs, and a line for every delta; else short names, and of a step's deltas those of
                one tick about one subject on a line, and no more than a few lines.
        """
        lines, queries = [self.question, f"answer: {self.answer}"], set[str]()
        for part, told in zip(self.parts, _told(self.parts), strict=True):
            lines.append("")
            if part.title:
                lines.append(f"{part.heading}: {part.answer}")
            for number, (step, before) in enumerate(zip(part.steps, told, strict=True)):
                lines.append(f"{number:>3} {_head(step, full)}")
                if step.query and step.query not in queries:
                    queries.add(step.query)
                    lines += ["", *(f"      {line}" for line in step.query.splitlines()), ""]
                lines += [f"      {line}" for line in self._reasons(step, before, full)]
            if part.ground:
                lines.append(f"    ground: {part.surety}")
        lines += ["", *(_source(name, log, full) for name, log in self.logs.items())]
        return "\n".join(lines) + "\n"

    def premises(self, part: ExplainedPart) -> list[str]:
        """The steps of a part without their deltas, a line each, with the things that they came to in words.

        A step that only names a value, such as a colour, is no premise.
        """
        return [self._premise(step) for step in part.steps if step.name != step.gave]

    def _premise(self, step: ExplainedStep) -> str:
        phrases = [" and ".join(self.called.get(iri, "") for iri in iris) for iris in step.about]
        gave = "; ".join(phrases) if phrases and all(phrases) else step.gave
        took = "" if phrases else ", ".join(step.took)
        short = f"{step.name} {took}".rstrip() if len(took) + len(gave) < _MOST_IN_LINE else step.name
        return _clipped(f"{short} => {gave}", _MOST_IN_LINE)

    def record(self) -> dict[str, Any]:
        """The explanation for a machine, as builtins; evidence with its tick, operation and triple."""
        parts: list[dict[str, Any]] = []
        for part in self.parts:
            steps = [
                {**msgspec.to_builtins(step), "evidence": [self._piece(piece) for piece in step.evidence]}
                for step in part.steps
            ]
            parts.append({**msgspec.structs.asdict(part), "steps": steps})
        logs = {name: log.digest for name, log in self.logs.items()}
        return {"question": self.question, "answer": self.answer, "parts": parts, "logs": logs}

    def html(self) -> str:
        """The steps as an HTML fragment, a ``details`` element with a table for each part.

        Classes: ``steps`` of a table, ``deltas`` of a list of deltas, ``mono`` of what is code.
        """
        lines: list[str] = []
        for index, (part, told) in enumerate(zip(self.parts, _told(self.parts), strict=True)):
            count = f"{len(part.steps)} step{'' if len(part.steps) == 1 else 's'}"
            answer = f"<strong>{html.escape(part.answer)}</strong>"
            title = f"{html.escape(part.heading)}: {answer}, in {count}" if part.title else f"In {count}"
            cells = (self._cells(step, before) for step, before in zip(part.steps, told, strict=True))
            lines += [
                f"<details{'' if index else ' open'}><summary>{title}</summary>",
                _TABLE_HEAD,
                *(f"<tr><td>{number}</td>{row}</tr>" for number, row in enumerate(cells)),
                "</tbody></table>",
                *([f"<p>Ground: {html.escape(part.surety)}</p>"] if part.ground else []),
                "</details>",
            ]
        return "\n".join(lines)

    def _cells(self, step: ExplainedStep, before: str) -> str:
        took = html.escape(_clipped(", ".join(step.took)))
        gave = f"{took} ⇒ <strong>{html.escape(_clipped(step.gave))}</strong>".lstrip()
        reasons = "".join(f"<li>{html.escape(line)}</li>" for line in self._reasons(step, before, False))
        listed = f'<ul class="deltas mono">{reasons}</ul>' if reasons else ""
        return f'<td class="token mono">{html.escape(step.name)}</td><td>{gave}{listed}</td>'

    def _reasons(self, step: ExplainedStep, before: str, full: bool) -> Iterator[str]:
        """The lines under a step: its deltas, or which step has the same ones, and what was not there."""
        if before:
            yield f"the deltas of {before}"
        else:
            yield from self._deltas(step.evidence, full)
        for pattern in step.missed:
            yield f"not there  {pattern}"

    def _deltas(self, evidence: Sequence[Evidence], full: bool) -> list[str]:
        lines = [self._line(piece, full) for piece in evidence]
        if full:
            return [f"{start} {text}" for start, text in lines]
        grouped = [
            (start, [text for _, text in some]) for start, some in groupby(lines, key=lambda line: line[0])
        ]
        more = sum(len(texts) for _, texts in grouped[_MOST_LINES:])
        first_lines = [f"{start} {'; '.join(texts)}" for start, texts in grouped[:_MOST_LINES]]
        return [*first_lines, f"and {more} more"] if more else first_lines

    def _line(self, piece: Evidence, full: bool) -> tuple[str, str]:
        """A delta in words: when, what was done and to which subject; and what was said of it."""
        tick, op, (subject, predicate, value) = self.delta(piece)
        where = f" of {piece.log}" if piece.log else ""
        names = {} if full else self.names
        verb = "a" if predicate == RDF_TYPE and not full else short(predicate, names)
        value_text = str(value) if full else short(value, names)
        return f"tick {tick:>3}{where}  {op.name.lower():<7}  {short(subject, names)}", f"{verb} {value_text}"

    def _piece(self, piece: Evidence) -> dict[str, Any]:
        tick, op, triple = self.delta(piece)
        triple_text = " ".join(map(str, triple))
        return {**msgspec.structs.asdict(piece), "tick": tick, "op": op.name.lower(), "triple": triple_text}


def short(term: Term, names: Mapping[str, str]) -> str:
    """A term for a reader: an IRI by its short name, a number or truth value without its datatype.

    Args:
        names: what is written, by how an IRI begins; of several that fit the longest counts.

    >>> short(NamedNode("urn:village:ann"), {"urn:": "u:", "urn:village:": ""}), short(Literal(3), {})
    ('ann', '3')
    """
    if isinstance(term, NamedNode):
        start = max((start for start in names if term.value.startswith(start)), key=len, default=None)
        return str(term) if start is None else names[start] + term.value[len(start) :]
    if isinstance(term, Literal):
        return term.value if term.datatype in _BARE else str(Literal(term.value))
    if isinstance(term, TripleTerm):
        parts = (short(part, names) for part in (term.subject, term.predicate, term.object))
        return f"<<( {' '.join(parts)} )>>"
    return str(term)


def _told(parts: Sequence[ExplainedPart]) -> list[list[str]]:
    """For each step the earlier one that rests on the same deltas, in words; empty where there is none."""
    first: dict[tuple[Evidence, ...], tuple[ExplainedPart, int]] = {}
    told: list[list[str]] = []
    for part in parts:
        told.append([])
        for number, step in enumerate(part.steps):
            there, earlier = first.setdefault(step.evidence, (part, number))
            new = not step.evidence or (there is part and earlier == number)
            place = f"step {earlier}" + (f" of {there.title}" if there is not part else "")
            told[-1].append("" if new else place)
    return told


def _head(step: ExplainedStep, full: bool) -> str:
    took, gave = (text if full else _clipped(text) for text in (", ".join(step.took), step.gave))
    return f"{step.name} {took} => {gave}" if took else f"{step.name} => {gave}"


def _clipped(text: str, most: int = _MOST_CHARACTERS) -> str:
    return text if len(text) <= most else f"{text[:most].rsplit(' ', 1)[0]} …"


def _source(name: str, log: EventLog, full: bool) -> str:
    end = None if full else 19
    origin = f", forked at tick {log.branch_tick} of {log.parent_digest[:end]}" if log.parent_digest else ""
    return f"{f'log of {name}' if name else 'log'}: {log.digest[:end]}{origin}"
