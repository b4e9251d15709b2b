"""Why an answer is what it is: steps, and for each the deltas of a log that it rests on.

Evidence is data: the position of a delta in a log. Its tick, operation and triple are looked up there, so
that an explanation cannot say what the log does not hold.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from substrate.log import Delta, EventLog

OWN = ""
"""The name of the log that the answer was computed from, among an explanation's logs."""


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

    >>> ExplainedStep("count", "2", took=("cubes",), evidence=(Evidence(0), Evidence(3))).gave
    '2'
    """

    name: str
    gave: str
    took: tuple[str, ...] = ()
    query: str = ""
    evidence: tuple[Evidence, ...] = ()
    missed: tuple[str, ...] = ()


class ExplainedPart(msgspec.Struct, frozen=True):
    """The steps to one part of an answer: to a choice of several, or to the whole.

    Attributes:
        title: the choice; empty for the whole.
        answer: what this part comes to; ``error: …`` where it cannot run.
        ground: how sure the answer is, if anything says so.

    >>> ExplainedPart("", (ExplainedStep("count", "2"),), "2").answer
    '2'
    """

    title: str
    steps: tuple[ExplainedStep, ...]
    answer: str
    ground: str = ""


class Explanation(msgspec.Struct, frozen=True):
    """An answer with its reasons.

    Attributes:
        question: the question in words.
        answer: the answer.
        parts: how it came about.
        logs: what the evidence points into: the answer's own log as ``""``, a fork or another arm by name.

    >>> from pyoxigraph import Literal, NamedNode
    >>> from substrate import Delta, EventLog, Op
    >>> ann, at, home = NamedNode("urn:ann"), NamedNode("urn:at"), Literal("home")
    >>> log = EventLog([Delta(tick=3, op=Op.INSERT, triple=(ann, at, home))])
    >>> step = ExplainedStep("look up", "home", evidence=(Evidence(0),))
    >>> why = Explanation("Where is Ann?", "home", (ExplainedPart("", (step,), "home"),), {"": log})
    >>> print(why.text(), end="")
    Where is Ann?
    answer: home
      1 look up => home
          tick 3  insert  <urn:ann> <urn:at> "home"
    """

    question: str
    answer: str
    parts: tuple[ExplainedPart, ...]
    logs: Mapping[str, EventLog]

    def delta(self, evidence: Evidence) -> Delta:
        """The delta that a piece of evidence is."""
        return self.logs[evidence.log][evidence.position]

    def evidence(self, log: str = OWN) -> list[int]:
        """The positions in one of the logs that the answer rests on, ascending, each once."""
        steps = (step for part in self.parts for step in part.steps)
        return sorted({piece.position for step in steps for piece in step.evidence if piece.log == log})

    def text(self) -> str:
        """The explanation for a reader: the answer first, then its steps; a query stands where it is new."""
        lines, shown = [self.question, f"answer: {self.answer}"], set[str]()
        for part in self.parts:
            if part.title:
                lines += ["", f"{part.title}: {part.answer}"]
            for number, step in enumerate(part.steps, start=1):
                lines.append(f"  {number} {_head(step)}")
                if step.query and step.query not in shown:
                    shown.add(step.query)
                    lines += ["", *(f"      {line}" for line in step.query.splitlines()), ""]
                lines += [f"      {self._said(piece)}" for piece in step.evidence]
                lines += [f"      not there  {pattern}" for pattern in step.missed]
            if part.ground:
                lines.append(f"  ground: {part.ground}")
        return "\n".join(lines) + "\n"

    def record(self) -> dict[str, Any]:
        """The explanation for a machine: builtins; each piece of evidence with its tick, operation and triple."""
        parts = [
            {
                "title": part.title,
                "answer": part.answer,
                "ground": part.ground,
                "steps": [self._step_record(step) for step in part.steps],
            }
            for part in self.parts
        ]
        logs = {name: log.digest for name, log in self.logs.items()}
        return {"question": self.question, "answer": self.answer, "parts": parts, "logs": logs}

    def html(self) -> str:
        """The explanation as an HTML fragment."""
        said = [f"<p>{html.escape(self.question)} <strong>{html.escape(self.answer)}</strong></p>"]
        for part in self.parts:
            if part.title:
                said.append(f"<h4>{html.escape(f'{part.title}: {part.answer}')}</h4>")
            said.append("<ol>")
            for step in part.steps:
                lines = [self._said(piece) for piece in step.evidence]
                lines += [f"not there  {pattern}" for pattern in step.missed]
                items = "".join(f"<li><code>{html.escape(line)}</code></li>" for line in lines)
                said.append(f"<li>{html.escape(_head(step))}<ul>{items}</ul></li>")
            said.append("</ol>")
        return "\n".join(said)

    def _said(self, piece: Evidence) -> str:
        tick, op, triple = self.delta(piece)
        where = f" of {piece.log}" if piece.log else ""
        return f"tick {tick}{where}  {op.name.lower():<7} {_terms(triple)}"

    def _step_record(self, step: ExplainedStep) -> dict[str, Any]:
        evidence = [
            {
                "log": piece.log,
                "position": piece.position,
                "tick": self.delta(piece).tick,
                "op": self.delta(piece).op.name.lower(),
                "triple": _terms(self.delta(piece).triple),
            }
            for piece in step.evidence
        ]
        return {**msgspec.to_builtins(step), "evidence": evidence}


def _head(step: ExplainedStep) -> str:
    return (
        f"{step.name} {', '.join(step.took)} => {step.gave}" if step.took else f"{step.name} => {step.gave}"
    )


def _terms(triple: Sequence[object]) -> str:
    return " ".join(map(str, triple))
