"""Explain an answer: its program step by step, with the deltas behind each step."""

from __future__ import annotations

from collections.abc import Mapping

from substrate.base.errors import SubstrateError
from substrate.base.vocabulary import RDF_TYPE
from substrate.cause.explanation import ERROR, OWN, Evidence, ExplainedPart, ExplainedStep, Explanation, short
from substrate.domains._facts import term_of
from substrate.domains.gqa.answers import answer_of, text_of
from substrate.domains.gqa.arguments import Named, Related
from substrate.domains.gqa.format import Question
from substrate.domains.gqa.ontology import NAMESPACE
from substrate.domains.gqa.operations import Instruction, Judgement, Resolve, Result, Word, run_step
from substrate.domains.gqa.program import compile_program
from substrate.domains.gqa.scene import Look, Pattern, Scene

_NAMES = {
    f"{NAMESPACE}class:": "class:",
    f"{NAMESPACE}family:": "family:",
    f"{NAMESPACE}relation:": "relation:",
    NAMESPACE: "gqa:",
    RDF_TYPE.value: "a",
    "urn:gqa:": "",
}
"""Short names; an object is written as its image's id and its own id."""
_NOTHING = "nothing"


def explain(scene: Scene, question: Question, *, resolve: Resolve = "name") -> Explanation:
    """Answer a question again, recording every look-up.

    If a step found nothing or gave no, its failed patterns are listed as the reason. The explanation ends at
    a step that cannot run.

    >>> from substrate.domains.gqa.format import Operation, SceneGraph, SceneObject
    >>> apple = SceneObject(name="apple", x=60, y=0, w=10, h=10, attributes=["red"])
    >>> scene = Scene.of("7", SceneGraph(width=100, height=100, objects={"1": apple}))
    >>> ask = [Operation("select", "fruit (1)", []), Operation("verify color", "green", [0])]
    >>> print(explain(scene, Question("7", "Is the fruit green?", ask)).text().rpartition("log:")[0])
    Is the fruit green?
    answer: no
    <BLANKLINE>
      0 select fruit (1) => apple (1)
          tick   0  insert   7:1 gqa:name "apple"
          tick   1  insert   7:1 a class:fruit
      1 verify color green, step 0 => no
          not there  7:1 family:color "green"
          not there  7:1 gqa:attribute "green"
    <BLANKLINE>
    <BLANKLINE>
    """
    explained: list[ExplainedStep] = []
    results: dict[int, Result] = {}
    try:
        program = compile_program(question.semantic)
        for step in program:
            scene.look = look = Look()
            try:
                results[step.position] = run_step(scene, step, results, resolve=resolve)
            finally:
                scene.look = None
                explained.append(_explained(scene, step, results, look, resolve))
        answer = answer_of(scene, question, program[-1], results[len(program) - 1])
    except SubstrateError as error:
        answer = f"{ERROR}{error}"
    rule = f"the program over the scene graph, objects looked for by {resolve}"
    part = ExplainedPart("", tuple(explained), answer, rule=rule)
    return Explanation(question.question, answer, (part,), {OWN: scene.log}, _NAMES)


def _explained(
    scene: Scene, step: Instruction, results: Mapping[int, Result], look: Look, resolve: Resolve
) -> ExplainedStep:
    """A step that was run: its input and output, its evidence, its failed look-ups."""
    result = results.get(step.position)
    gave = "error" if result is None else _shown(scene, result)
    missed = tuple(map(_pattern, look.missed)) if gave in (_NOTHING, "no", "error") else ()
    if resolve == "id" and gave == _NOTHING and _carries_no_id(step):
        gave = f"{_NOTHING}: the program carries no id"
        missed = ()
    numbers = {position: number for number, position in enumerate(results)}
    took = [step.step.argument.strip(), *(f"step {numbers[position]}" for position in step.dependencies)]
    objects = _objects(result)
    facts = [fact for fact in look.found if objects is None or {fact[0], fact[2]} & objects]
    return ExplainedStep(
        step.step.operation,
        gave,
        tuple(filter(None, took)),
        evidence=tuple(map(Evidence, sorted(map(scene.position, set(facts))))),
        missed=missed,
        about=tuple((node[1:-1],) for node in scene.ranked(result)) if isinstance(result, dict) else (),
    )


def _carries_no_id(step: Instruction) -> bool:
    """Tell whether the program itself says, by ``-``, that no such object exists."""
    target = step.argument.target if isinstance(step.argument, Related) else step.argument
    return isinstance(target, Named) and target.ids == ()


def _objects(result: Result | None) -> set[object] | None:
    """The objects that a step kept, the only ones whose facts are evidence; ``None`` if all facts are."""
    if isinstance(result, Word):
        return set(result.objects)
    if isinstance(result, Judgement):
        return set(result.witnesses) if result.holds and result.witnesses else None
    return set(result) if result else None


def _shown(scene: Scene, result: Result) -> str:
    if isinstance(result, dict):
        return ", ".join(scene.label(node) for node in scene.ranked(result)) or _NOTHING
    return text_of(result)


def _pattern(pattern: Pattern) -> str:
    variables = ("?subject", "?predicate", "?object")
    return " ".join(
        variable if term is None else short(term_of(term), _NAMES)
        for term, variable in zip(pattern, variables, strict=True)
    )
