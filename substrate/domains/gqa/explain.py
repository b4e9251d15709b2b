"""Why an answer is what it is: the program step by step, with the triples behind each step."""

from __future__ import annotations

from typing import NamedTuple

from substrate.domains.gqa.deltas import ENTAILED
from substrate.domains.gqa.format import Question
from substrate.domains.gqa.interpreter import Resolve, Result, Said, Truth, run_step, said
from substrate.domains.gqa.ontology import NAMESPACE
from substrate.domains.gqa.program import compile_program
from substrate.domains.gqa.scene import Evidence, Pattern, Scene
from substrate.errors import ProgramError
from substrate.log import Op, Triple


class Ground(NamedTuple):
    """A triple a step stands on, and the tick that introduced it (0 annotated, 1 entailed by the TBox)."""

    tick: int
    triple: str


class StepReason(NamedTuple):
    """One step of the program: what it did, what came out, and why.

    ``missed`` are the patterns it looked for in vain, listed where they are the reason: the step
    found nothing or said no.
    """

    step: int
    operation: str
    argument: str
    dependencies: tuple[int, ...]
    result: str
    grounds: tuple[Ground, ...]
    missed: tuple[str, ...]


class Explanation(NamedTuple):
    """The answer (``error`` where a step could not run, with its reason) and the steps that led to it."""

    answer: str
    error: str | None
    log: str
    steps: tuple[StepReason, ...]

    def text(self) -> str:
        """The explanation as lines for a reader."""
        lines = []
        for step in self.steps:
            inputs = f" {list(step.dependencies)}" if step.dependencies else ""
            lines.append(f"{step.step}. {step.operation}: {step.argument}{inputs} => {step.result}")
            lines += [f"     tick {ground.tick}  {ground.triple}" for ground in step.grounds]
            lines += [f"     not there  {pattern}" for pattern in step.missed]
        lines.append(f"answer: {self.answer}" + (f" ({self.error})" if self.error else ""))
        return "\n".join(lines)


def explain(scene: Scene, question: Question, *, resolve: Resolve = "name") -> Explanation:
    """Answer a question again, writing down every look-up.

    >>> from substrate.domains.gqa.format import SceneGraph, SceneObject, Step
    >>> apple = SceneObject(name="apple", x=60, y=0, w=10, h=10, attributes=["red"])
    >>> scene = Scene.of("7", SceneGraph(width=100, height=100, objects={"1": apple}))
    >>> ask = [Step("select", "fruit (1)", []), Step("verify color", "green", [0])]
    >>> print(explain(scene, Question("7", "Is the fruit green?", ask)).text())
    0. select: fruit (1) => apple (1)
         tick 0  <urn:gqa:7:1> gqa:name "apple"
         tick 1  <urn:gqa:7:1> rdf:type class:fruit
    1. verify color: green [0] => no
         not there  <urn:gqa:7:1> family:color "green"
         not there  <urn:gqa:7:1> gqa:attribute "green"
    answer: no

    Raises:
        ProgramError: the program is not well typed.
        FormatError: the program is malformed.
    """
    ticks: dict[Triple, int] = {
        delta.triple: delta.tick for delta in reversed(list(scene.log)) if delta.op is Op.INSERT
    }
    results: dict[int, Result] = {}
    reasons: list[StepReason] = []
    steps = compile_program(question.semantic)
    error: str | None = None
    for step in steps:
        scene.evidence = evidence = Evidence()
        try:
            results[step.position] = run_step(scene, step, results, resolve=resolve)
            shown = _shown(scene, results[step.position])
        except ProgramError as failure:
            error, shown = str(failure), "error"
        finally:
            scene.evidence = None
        reasons.append(
            StepReason(
                step.position,
                step.step.operation,
                step.step.argument.strip(),
                step.dependencies,
                shown,
                _grounds(scene, evidence, results.get(step.position), ticks),
                tuple(short(str(pattern)) for pattern in evidence.missed)
                if shown in ("nothing", "no", "error")
                else (),
            )
        )
        if error:
            return Explanation("error", error, scene.digest, tuple(reasons))
    return Explanation(said(results[len(steps) - 1]), None, scene.digest, tuple(reasons))


def _grounds(
    scene: Scene, evidence: Evidence, result: Result | None, ticks: dict[Triple, int]
) -> tuple[Ground, ...]:
    """The triples found, without those about objects the step then left out."""
    kept = _objects(result)
    relevant = [triple for triple in evidence.found if kept is None or {triple[0], triple[2]} & kept]
    return tuple(
        sorted(Ground(ticks.get(triple, ENTAILED), short(str(Pattern(*triple)))) for triple in relevant)  # pyright: ignore[reportArgumentType]
    )


def _objects(result: Result | None) -> set[object] | None:
    if isinstance(result, Said):
        return set(result.objects)
    if isinstance(result, Truth):
        return set(result.witnesses) if result.holds and result.witnesses else None
    return set(result) if result else None


def _shown(scene: Scene, result: Result) -> str:
    if isinstance(result, dict):
        return ", ".join(scene.label(node) for node in scene.ranked(result)) or "nothing"
    return said(result)


_PREFIXES = (
    (f"<{NAMESPACE}class:", "class:"),
    (f"<{NAMESPACE}family:", "family:"),
    (f"<{NAMESPACE}relation:", "relation:"),
    (f"<{NAMESPACE}", "gqa:"),
    ("<http://www.w3.org/1999/02/22-rdf-syntax-ns#", "rdf:"),
    ("<http://www.w3.org/2001/XMLSchema#", "xsd:"),
)


def short(text: str) -> str:
    """A triple with the domain's IRIs written as prefixed names."""
    for start, prefix in _PREFIXES:
        before, *rest = text.split(start)
        text = before + "".join(prefix + part.replace(">", "", 1) for part in rest)
    return text
