"""Answers GQA questions: each step of a typed program is one entry of :data:`OPERATIONS`.

Two ways to find objects, which are two experiments: ``name`` reads the program as language, ``id`` takes
the ids it carries. By name a phrase may fit several objects. All of them are kept as candidates as the
steps thin them out, so an object that makes the next step possible is preferred; of those left, the
closest to the wording, then the largest, then the one of the lowest id is meant. The gold answer is
never read before the prediction is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Literal, NamedTuple, cast

import msgspec

from substrate.base.errors import ParameterError, ProgramError, SubstrateError
from substrate.domains.gqa.format import Question
from substrate.domains.gqa.program import Instruction, Named, Options, Related, Value, Word, compile_program
from substrate.domains.gqa.scene import EXACT, Node, Objects, Scene
from substrate.domains.rows import Row

Resolve = Literal["name", "id"]
SUBSETS: Mapping[Resolve, str] = {"name": "by_name", "id": "by_id"}
"""The subset of a row, by the way in which its objects are found."""


class Truth(NamedTuple):
    """Yes or no, and of which candidates of which step it holds."""

    holds: bool
    step: int
    witnesses: frozenset[Node]


class Said(NamedTuple):
    """A word as an answer, and the objects it was read from."""

    word: str
    objects: tuple[Node, ...]


Result = Objects | Truth | Said


class _Run(NamedTuple):
    scene: Scene
    by_id: bool


def _select(run: _Run, step: Instruction) -> Objects:
    return run.scene.named(cast(Named, step.argument), by_id=run.by_id)


def _relate(run: _Run, step: Instruction, sources: Objects) -> Objects:
    argument = cast(Related, step.argument)
    return run.scene.related(
        sources, argument.relations[0], subject=argument.subject, target=argument.target, by_id=run.by_id
    )


def _filter(run: _Run, step: Instruction, objects: Objects) -> Objects:
    value, negated = cast(Value, step.argument)
    return {
        node: penalty
        for node, penalty in objects.items()
        if run.scene.has_value(node, step.family, value) is not negated
    }


def _exist(_: _Run, step: Instruction, objects: Objects) -> Truth:
    return Truth(bool(objects), step.position, frozenset(objects))


def _verify(run: _Run, step: Instruction, objects: Objects) -> Truth:
    return _truth(step, _filter(run, step, run.scene.best(objects)))


def _verify_rel(run: _Run, step: Instruction, sources: Objects) -> Truth:
    return _truth(
        step, {source: EXACT for source in run.scene.best(sources) if _relate(run, step, {source: EXACT})}
    )


def _truth(step: Instruction, witnesses: Objects) -> Truth:
    return Truth(bool(witnesses), step.dependencies[0], frozenset(witnesses))


def _query(run: _Run, step: Instruction, objects: Objects) -> Said:
    scene, asked = run.scene, cast(Word, step.argument).word
    ranked = scene.ranked(_some(objects))
    if asked == "name":
        if ranked[0] == scene.node:
            raise ProgramError("a scene has no name", hint="Ask for its place, location or weather")
        return Said(scene.name(ranked[0]), (ranked[0],))
    if asked in scene.ontology.families:
        for node in ranked:
            if values := scene.values(node, asked):
                return Said(values[0], (node,))
        raise ProgramError(f"none of {_listed(run, objects)} has a {asked}")
    if scene.node in objects and scene.ontology.knows(asked):
        return _query_kind(run, asked)
    raise ProgramError(
        f"the TBox knows no attribute family {asked!r}", hint="Add it to the TBox with its values"
    )


def _query_kind(run: _Run, kind: str) -> Said:
    """Name the place or the room: the scene's own location if it is one, else its largest object that is."""
    scene = run.scene
    for location in scene.annotated(scene.node, "location"):
        if kind in scene.ontology.kinds(location)[1:]:
            return Said(location, (scene.node,))
    node = scene.ranked(_some(scene.named(Named(kind, None), by_id=False)))[0]
    return Said(scene.name(node), (node,))


def _choose(run: _Run, step: Instruction, objects: Objects) -> Said:
    words = cast(Options, step.argument).words
    for node in run.scene.ranked(_some(objects)):
        for word in words:
            if run.scene.has_value(node, step.family, word):
                return Said(word, (node,))
    raise ProgramError(f"none of {_listed(run, objects)} is {' or '.join(words)}")


def _choose_name(run: _Run, step: Instruction, objects: Objects) -> Said:
    words = cast(Options, step.argument).words
    fits: list[tuple[int, int, int]] = []
    ranked = run.scene.ranked(_some(objects))
    for position, node in enumerate(ranked):
        for index, word in enumerate(words):
            penalty = run.scene.is_kind(node, word)
            if penalty is not None:
                fits.append((penalty, position, index))
    if not fits:
        raise ProgramError(f"none of {_listed(run, objects)} is a {' or a '.join(words)}")
    _, position, index = min(fits)
    return Said(words[index], (ranked[position],))


def _choose_rel(run: _Run, step: Instruction, sources: Objects) -> Said:
    scene, argument = run.scene, cast(Related, step.argument)
    options = argument.relations
    best = scene.best(_some(sources))
    fits = [
        (penalty, scene.prominence(node), index, node)
        for index, relation in enumerate(options)
        for node, penalty in scene.related(
            best, relation, subject=argument.subject, target=argument.target, by_id=run.by_id
        ).items()
    ]
    if fits:
        _, _, index, node = min(fits, key=lambda fit: fit[:3])
        return Said(scene.ontology.answer(options[index]), (node,))
    source = scene.ranked(best)[0]
    targets = scene.named(argument.target, by_id=run.by_id)
    if set(targets) == {source}:
        return _choose_alone(run, argument, source)
    return _choose_by_box(run, argument, source, targets)


def _choose_alone(run: _Run, argument: Related, node: Node) -> Said:
    """The program relates an object to itself: the other end was lost (official "is she to the left or right
    of …").

    What remains is the object's own side: the one option that it stands in with anything, else the half of
    the image.
    """
    scene = run.scene
    anything = Named("_", None)
    standing = [
        r
        for r in argument.relations
        if scene.related({node: EXACT}, r, subject=not argument.subject, target=anything, by_id=False)
    ]
    if len(standing) == 1:
        return Said(scene.ontology.answer(standing[0]), (node,))
    axes = [scene.ontology.axis(relation) for relation in argument.relations]
    leads = [scene.lies(node, scene.node, axis) for axis in axes if axis is not None]
    if len(leads) < len(axes) or max(leads) <= 0:
        raise ProgramError(f"the program relates {scene.name(node)} to itself")
    side = argument.relations[leads.index(max(leads))]
    return Said(scene.ontology.answer(side), (node, scene.node))


def _choose_by_box(run: _Run, argument: Related, source: Node, targets: Objects) -> Said:
    """Neither relation is annotated: where both speak of positions, the boxes decide."""
    scene = run.scene
    targets = {node: penalty for node, penalty in targets.items() if node != source}
    if not targets:
        raise ProgramError(f"no {argument.target.name} beside {scene.name(source)} to relate it to")
    target = scene.ranked(targets)[0]
    subject, other = (target, source) if argument.subject else (source, target)
    axes = [scene.ontology.axis(relation) for relation in argument.relations]
    leads = [scene.lies(subject, other, axis) for axis in axes if axis is not None]
    if len(leads) < len(axes) or max(leads) <= 0:
        raise ProgramError(
            f"{scene.name(subject)} is neither {' nor '.join(argument.relations)} {scene.name(other)}"
        )
    side = argument.relations[leads.index(max(leads))]
    return Said(scene.ontology.answer(side), (subject, other))


def _compare(run: _Run, step: Instruction, first: Objects, second: Objects) -> Said:
    scene = run.scene
    comparison = scene.ontology.comparisons.get(step.family)
    if comparison is None:
        raise ProgramError(
            f"the TBox knows no comparison {step.family!r}",
            hint="Add it to the TBox with the value it favours",
        )
    for pair in _pairs(run, first, second):
        holds = [scene.has_value(node, "", comparison.favours) for node in pair]
        loses = [scene.has_value(node, "", comparison.against) for node in pair]
        if holds[0] != holds[1] or loses[0] != loses[1]:
            first_wins = holds[0] > holds[1] or (holds[0] == holds[1] and loses[1])
            return Said(scene.name(pair[0] if first_wins else pair[1]), pair)
    raise ProgramError(
        f"nothing says whether {_listed(run, first)} or {_listed(run, second)} is {step.family}"
    )


def _common(run: _Run, _: Instruction, first: Objects, second: Objects) -> Said:
    for pair in _pairs(run, first, second):
        for family in run.scene.ontology.comparable:
            if _share(run, pair, family):
                return Said(family, pair)
    raise ProgramError(f"{_listed(run, first)} and {_listed(run, second)} have no attribute in common")


def _same(run: _Run, step: Instruction, first: Objects, second: Objects) -> Truth:
    for pair in _pairs(run, first, second):
        if (shared := _share(run, pair, step.family)) is not None:
            return Truth(shared, step.position, frozenset(pair))
    raise ProgramError(f"{_listed(run, first)} and {_listed(run, second)} do not both have a {step.family}")


def _different(run: _Run, step: Instruction, first: Objects, second: Objects) -> Truth:
    return _not(_same(run, step, first, second))


def _all_same(run: _Run, step: Instruction, objects: Objects) -> Truth:
    family = cast(Word, step.argument).word
    each = [set(run.scene.values(node, family)) for node in run.scene.ranked(_some(objects))]
    held = [values for values in each if values]
    if not held:
        raise ProgramError(f"none of {_listed(run, objects)} has a {family}")
    return Truth(bool(set.intersection(*held)), step.position, frozenset(objects))


def _all_different(run: _Run, step: Instruction, objects: Objects) -> Truth:
    return _not(_all_same(run, step, objects))


def _and(_: _Run, step: Instruction, first: Truth, second: Truth) -> Truth:
    if first.step == second.step:
        # Said of one phrase, both must hold of one object: "is the shirt open and black".
        both = first.witnesses & second.witnesses
        return Truth(bool(both), first.step, both)
    return Truth(first.holds and second.holds, step.position, frozenset())


def _or(_: _Run, step: Instruction, first: Truth, second: Truth) -> Truth:
    return Truth(first.holds or second.holds, step.position, frozenset())


OPERATIONS: Mapping[str, Callable[..., Result]] = {
    "select": _select,
    "relate": _relate,
    "filter": _filter,
    "exist": _exist,
    "verify": _verify,
    "verify rel": _verify_rel,
    "query": _query,
    "choose": _choose,
    "choose name": _choose_name,
    "choose rel": _choose_rel,
    "compare": _compare,
    "common": _common,
    "same": _same,
    "different": _different,
    "all same": _all_same,
    "all different": _all_different,
    "and": _and,
    "or": _or,
}
"""Every operation of :data:`substrate.domains.gqa.program.SIGNATURES`."""


def _some(objects: Objects) -> Objects:
    if not objects:
        raise ProgramError("there is no such object in the scene")
    return objects


def _pairs(run: _Run, first: Objects, second: Objects) -> list[tuple[Node, Node]]:
    pairs = [
        (a, b) for a, b in product(run.scene.ranked(_some(first)), run.scene.ranked(_some(second))) if a != b
    ]
    if not pairs:
        raise ProgramError("there are not two objects to compare")
    return pairs


def _share(run: _Run, pair: tuple[Node, Node], family: str) -> bool | None:
    one, other = (set(run.scene.values(node, family)) for node in pair)
    return bool(one & other) if one and other else None


def _not(truth: Truth) -> Truth:
    return truth._replace(holds=not truth.holds)


def _listed(run: _Run, objects: Objects) -> str:
    labels = [run.scene.label(node) for node in run.scene.ranked(objects)[:3]]
    return ", ".join(labels) + (" …" if len(objects) > 3 else "")


def run_step(scene: Scene, step: Instruction, results: Mapping[int, Result], *, resolve: Resolve) -> Result:
    """The result of one typed step, given those it depends on.

    Raises:
        ProgramError: the step cannot run on this scene; names the step.
    """
    try:
        return OPERATIONS[step.operation](
            _Run(scene, resolve == "id"), step, *(results[d] for d in step.dependencies)
        )
    except ProgramError as error:
        raise error.within(f"step {step.position} ({step.step.operation}: {step.step.argument})") from error


def predict(scene: Scene, question: Question, *, resolve: Resolve = "name") -> str:
    """The answer to a question about a scene.

    >>> from substrate.domains.gqa.format import SceneGraph, SceneObject, Step
    >>> cup = SceneObject(name="cup", x=60, y=0, w=10, h=10, attributes=["red"])
    >>> scene = Scene.of("7", SceneGraph(width=100, height=100, objects={"1": cup}))
    >>> ask = [Step("select", "cup (1)", []), Step("query", "hposition", [0])]
    >>> predict(scene, Question("7", "On which side is the cup?", ask))
    'right'

    Raises:
        ProgramError: the program cannot run on this scene.
        FormatError: the program is malformed.
    """
    return _run(scene, question, compile_program(question.semantic), resolve)


def _run(scene: Scene, question: Question, steps: Sequence[Instruction], resolve: Resolve) -> str:
    results: dict[int, Result] = {}
    for step in steps:
        results[step.position] = run_step(scene, step, results, resolve=resolve)
    return answer_of(scene, question, steps[-1], results[len(steps) - 1])


def answer_of(scene: Scene, question: Question, last: Instruction, result: Result) -> str:
    """The answer that a program's last step comes to.

    A chosen value is given in the question's own spelling: "metallic or wooden?" is answered "wooden", not
    "wood".
    """
    word = said(result)
    if last.operation != "choose":
        return word
    asked = set(re.findall(r"[\w'-]+", question.question.lower()))
    if word in asked:
        return word
    return next((spelling for spelling in scene.ontology.spellings(word) if spelling in asked), word)


def said(result: Result) -> str:
    """A final result as the answer's text."""
    if isinstance(result, Said):
        return result.word
    return "yes" if isinstance(result, Truth) and result.holds else "no"


def answer_scene(
    scene: Scene,
    questions: Mapping[str, Question],
    split: str,
    *,
    resolve: Resolve | None = None,
    benchmark: str = "gqa",
) -> list[Row]:
    """A row for each question about a scene and each way to find objects, by question and subset.

    Args:
        scene: the image's event log, opened.
        questions: question id to question.
        split: the name of the split, for the rows.
        resolve: the one way in which objects are found, by ``name`` or by the ``id`` that the program
            carries; both unless given.
        benchmark: the benchmark's name, for the rows.

    A program that cannot run on its scene is answered ``error``, with the reason, and counts as wrong.

    Raises:
        ParameterError: there is no such way to find objects.
    """
    if resolve is not None and resolve not in SUBSETS:
        raise ParameterError(f"resolve is {resolve!r}", hint=f"Give one of {', '.join(SUBSETS)}")
    ways: Iterable[Resolve] = SUBSETS if resolve is None else (resolve,)
    rows: list[Row] = []
    for number, question in questions.items():
        try:
            program = compile_program(question.semantic)
        except SubstrateError as fault:
            program = fault
        for way in ways:
            predicted, error = _outcome(scene, question, program, way)
            failed = error is not msgspec.UNSET
            expected = question.answer
            row = Row(
                benchmark=benchmark,
                split=split,
                subset=SUBSETS[way],
                scene=scene.image_id,
                question=number,
                predicted=predicted,
                expected=expected,
                correct=None if expected is None else not failed and predicted == expected,
                log=scene.digest,
                error=error,
            )
            rows.append(row)
    return sorted(rows, key=lambda row: (str(row.question), row.subset))


def _outcome(
    scene: Scene, question: Question, program: Sequence[Instruction] | SubstrateError, resolve: Resolve
) -> tuple[str, str | msgspec.UnsetType]:
    if isinstance(program, SubstrateError):
        return "error", str(program)
    try:
        return _run(scene, question, program, resolve), msgspec.UNSET
    except SubstrateError as error:
        return "error", str(error)
