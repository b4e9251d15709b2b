"""GQA's operations, one entry of :data:`OPCODES` each: what an operation takes, gives and does.

``select`` and ``relate`` find a set of objects and ``filter`` reduces it. ``verify``, ``exist``, ``same`` and
``different`` turn objects into a truth; ``and`` and ``or`` join truths; ``query``, ``choose`` and ``common``
give a word.

A name may fit several objects. All of them remain candidates while later steps filter them, so an object
that makes the next step possible is preferred. Among the remaining candidates the closest to the wording is
chosen, then the largest, then the lowest id.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any, Literal, NamedTuple

from substrate.base.errors import ProgramError
from substrate.domains.gqa import arguments
from substrate.domains.gqa.arguments import Named, Related
from substrate.domains.gqa.format import Operation
from substrate.domains.gqa.scene import EXACT, Node, Objects, Scene

Resolve = Literal["name", "id"]
"""The way to find objects: by their names, or by the ids in the program."""


class Kind(enum.Enum):
    """The kind of a step's result."""

    OBJECTS = "objects"
    TRUTH = "truth"
    WORD = "word"


class Instruction(NamedTuple):
    """A typed step: its position in the file, its entry of :data:`OPCODES`, attribute family, argument
    (``None`` if it has none) and inputs.
    """

    position: int
    operation: str
    family: str
    argument: Any
    dependencies: tuple[int, ...]
    result: Kind
    step: Operation


class Judgement(NamedTuple):
    """Yes or no.

    Attributes:
        step: the position of the step whose objects are judged; two judgements with one step are about the
            same phrase.
        witnesses: the objects of that step for which it holds.
    """

    holds: bool
    step: int
    witnesses: frozenset[Node]


class Word(NamedTuple):
    """A word as an answer, with the objects it was read from."""

    word: str
    objects: tuple[Node, ...]


Result = Objects | Judgement | Word


class _Run(NamedTuple):
    """A scene on which a program runs, and whether it finds objects by their ids."""

    scene: Scene
    by_id: bool

    def related(self, sources: Objects, relation: str, argument: Related) -> Objects:
        """The objects that fit a program's argument and have a relation to one of the sources."""
        target, subject = argument.target, argument.subject
        return self.scene.related(sources, relation, subject=subject, target=target, by_id=self.by_id)

    def ranked(self, objects: Objects) -> list[Node]:
        """The candidates in order of preference.

        Raises:
            ProgramError: there are no candidates.
        """
        if not objects:
            raise ProgramError("there is no such object in the scene")
        return self.scene.ranked(objects)

    def pairs(self, first: Objects, second: Objects) -> list[tuple[Node, Node]]:
        """Each of the first with each of the second, in order of preference."""
        pairs = [(a, b) for a, b in product(self.ranked(first), self.ranked(second)) if a != b]
        if not pairs:
            raise ProgramError("there are not two objects to compare")
        return pairs

    def share(self, pair: tuple[Node, Node], family: str) -> bool | None:
        """Tell whether two objects share a value of a family; ``None`` if either has no value."""
        first, second = (set(self.scene.values(node, family)) for node in pair)
        return bool(first & second) if first and second else None

    def listed(self, objects: Objects) -> str:
        """The first of some candidates, in words."""
        labels = [self.scene.label(node) for node in self.scene.ranked(objects)[:3]]
        return ", ".join(labels) + (" …" if len(objects) > 3 else "")


def _select(run: _Run, step: Instruction) -> Objects:
    return run.scene.named(step.argument, by_id=run.by_id)


def _relate(run: _Run, step: Instruction, sources: Objects) -> Objects:
    return run.related(sources, step.argument.relations[0], step.argument)


def _filter(run: _Run, step: Instruction, objects: Objects) -> Objects:
    value, negated = step.argument
    holds = {node: run.scene.has_value(node, step.family, value) for node in objects}
    return {node: penalty for node, penalty in objects.items() if holds[node] is not negated}


def _exist(_: _Run, step: Instruction, objects: Objects) -> Judgement:
    return Judgement(bool(objects), step.position, frozenset(objects))


def _verify(run: _Run, step: Instruction, objects: Objects) -> Judgement:
    return _truth(step, _filter(run, step, run.scene.best(objects)))


def _verify_rel(run: _Run, step: Instruction, sources: Objects) -> Judgement:
    return _truth(step, [node for node in run.scene.best(sources) if _relate(run, step, {node: EXACT})])


def _truth(step: Instruction, witnesses: Iterable[Node]) -> Judgement:
    nodes = frozenset(witnesses)
    return Judgement(bool(nodes), step.dependencies[0], nodes)


def _query(run: _Run, step: Instruction, objects: Objects) -> Word:
    scene, word, ranked = run.scene, step.argument, run.ranked(objects)
    if word == "name":
        if ranked[0] == scene.node:
            raise ProgramError("a scene has no name", hint="Ask for its place, location or weather")
        return Word(scene.name(ranked[0]), (ranked[0],))
    if word in scene.ontology.families:
        for node in ranked:
            if values := scene.values(node, word):
                return Word(values[0], (node,))
        raise ProgramError(f"none of {run.listed(objects)} has a {word}")
    if scene.node in objects and scene.ontology.knows(word):
        # "The place" or "the room": the scene's location if it is of this class, else the largest such
        # object.
        for location in scene.annotated(scene.node, "location"):
            if word in scene.ontology.kinds(location)[1:]:
                return Word(location, (scene.node,))
        node = run.ranked(scene.named(Named(word, None), by_id=False))[0]
        return Word(scene.name(node), (node,))
    what = f"the TBox knows no attribute family {word!r}"
    raise ProgramError(what, hint="Add it to the TBox with its values")


def _choose(run: _Run, step: Instruction, objects: Objects) -> Word:
    words = step.argument
    for node, word in product(run.ranked(objects), words):
        if run.scene.has_value(node, step.family, word):
            return Word(word, (node,))
    raise ProgramError(f"none of {run.listed(objects)} is {' or '.join(words)}")


def _choose_name(run: _Run, step: Instruction, objects: Objects) -> Word:
    words, ranked = step.argument, run.ranked(objects)
    fits = [
        (penalty, position, index)
        for position, node in enumerate(ranked)
        for index, word in enumerate(words)
        if (penalty := run.scene.is_kind(node, word)) is not None
    ]
    if not fits:
        raise ProgramError(f"none of {run.listed(objects)} is a {' or a '.join(words)}")
    _, position, index = min(fits)
    return Word(words[index], (ranked[position],))


def _choose_rel(run: _Run, step: Instruction, sources: Objects) -> Word:
    scene, argument = run.scene, step.argument
    source = run.ranked(sources)[0]
    best = scene.best(sources)
    fits = [
        (penalty, scene.prominence(node), index, node)
        for index, relation in enumerate(argument.relations)
        for node, penalty in run.related(best, relation, argument).items()
    ]
    if fits:
        _, _, index, node = min(fits, key=lambda fit: fit[:3])
        return Word(scene.ontology.answer(argument.relations[index]), (node,))
    targets = scene.named(argument.target, by_id=run.by_id)
    if set(targets) == {source}:
        return _choose_alone(run, argument, source)
    targets.pop(source, None)
    if not targets:
        raise ProgramError(f"no {argument.target.name} beside {scene.name(source)} to relate it to")
    target = scene.ranked(targets)[0]
    subject, other = (target, source) if argument.subject else (source, target)
    neither = f"is neither {' nor '.join(argument.relations)} {scene.name(other)}"
    return _choose_by_box(run, argument, (subject, other), f"{scene.name(subject)} {neither}")


def _choose_alone(run: _Run, argument: Related, node: Node) -> Word:
    """Choose between relations of an object to itself, as if the other end were lost (official "is she to the
    left or right of …").

    The object's own side decides: the only option that it has to any object, else its half of the image.
    """
    scene, anything = run.scene, Related(Named("_", None), (), not argument.subject)
    by_name = _Run(scene, by_id=False)
    holding = [name for name in argument.relations if by_name.related({node: EXACT}, name, anything)]
    if len(holding) == 1:
        return Word(scene.ontology.answer(holding[0]), (node,))
    failure = f"the program relates {scene.name(node)} to itself"
    return _choose_by_box(run, argument, (node, scene.node), failure)


def _choose_by_box(run: _Run, argument: Related, ends: tuple[Node, Node], failure: str) -> Word:
    """Choose without an annotated relation: if all options are positions, the two ends' boxes decide."""
    ontology = run.scene.ontology
    axes = [axis for relation in argument.relations if (axis := ontology.axis(relation)) is not None]
    leads = [run.scene.lies(*ends, axis) for axis in axes]
    if len(leads) < len(argument.relations) or max(leads) <= 0:
        raise ProgramError(failure)
    return Word(ontology.answer(argument.relations[leads.index(max(leads))]), ends)


def _compare(run: _Run, step: Instruction, first: Objects, second: Objects) -> Word:
    scene = run.scene
    comparison = scene.ontology.comparisons.get(step.family)
    if comparison is None:
        what = f"the TBox knows no comparison {step.family!r}"
        raise ProgramError(what, hint="Add it to the TBox with the value it favours")
    for pair in run.pairs(first, second):
        wins = [scene.has_value(node, "", comparison.favours) for node in pair]
        loses = [scene.has_value(node, "", comparison.against) for node in pair]
        if wins[0] != wins[1] or loses[0] != loses[1]:
            first_wins = wins[0] > wins[1] or (wins[0] == wins[1] and loses[1])
            return Word(scene.name(pair[0] if first_wins else pair[1]), pair)
    what = f"nothing says whether {run.listed(first)} or {run.listed(second)} is {step.family}"
    raise ProgramError(what)


def _common(run: _Run, _: Instruction, first: Objects, second: Objects) -> Word:
    for pair, family in product(run.pairs(first, second), run.scene.ontology.comparable):
        if run.share(pair, family):
            return Word(family, pair)
    raise ProgramError(f"{run.listed(first)} and {run.listed(second)} have no attribute in common")


def _same(run: _Run, step: Instruction, first: Objects, second: Objects) -> Judgement:
    for pair in run.pairs(first, second):
        if (shared := run.share(pair, step.family)) is not None:
            return Judgement(shared, step.position, frozenset(pair))
    raise ProgramError(f"{run.listed(first)} and {run.listed(second)} do not both have a {step.family}")


def _all_same(run: _Run, step: Instruction, objects: Objects) -> Judgement:
    family = step.argument
    each = [set(run.scene.values(node, family)) for node in run.ranked(objects)]
    held = [values for values in each if values]
    if not held:
        raise ProgramError(f"none of {run.listed(objects)} has a {family}")
    return Judgement(bool(set.intersection(*held)), step.position, frozenset(objects))


def _different(run: _Run, step: Instruction, *objects: Objects) -> Judgement:
    same = (_same if len(objects) == 2 else _all_same)(run, step, *objects)
    return same._replace(holds=not same.holds)


def _and(_: _Run, step: Instruction, first: Judgement, second: Judgement) -> Judgement:
    if first.step == second.step:
        # If both are about the same phrase, both must hold of one object: "is the shirt open and black".
        both = first.witnesses & second.witnesses
        return Judgement(bool(both), first.step, both)
    return Judgement(first.holds and second.holds, step.position, frozenset())


def _or(_: _Run, step: Instruction, first: Judgement, second: Judgement) -> Judgement:
    return Judgement(first.holds or second.holds, step.position, frozenset())


class Opcode(NamedTuple):
    """An operation: the kinds of its inputs, the kind of its result, the parser of its argument, and the
    function that runs it.
    """

    inputs: tuple[Kind, ...]
    result: Kind
    parse: Callable[[str], object]
    run: Callable[..., Result]


_O, _T, _W = Kind.OBJECTS, Kind.TRUTH, Kind.WORD

OPCODES: Mapping[str, Opcode] = {
    "select": Opcode((), _O, arguments.named, _select),
    "relate": Opcode((_O,), _O, arguments.related, _relate),
    "filter": Opcode((_O,), _O, arguments.value_of, _filter),
    "exist": Opcode((_O,), _T, arguments.nothing, _exist),
    "verify": Opcode((_O,), _T, arguments.value_of, _verify),
    "verify rel": Opcode((_O,), _T, arguments.related, _verify_rel),
    "query": Opcode((_O,), _W, arguments.word, _query),
    "choose": Opcode((_O,), _W, arguments.options, _choose),
    "choose name": Opcode((_O,), _W, arguments.options, _choose_name),
    "choose rel": Opcode((_O,), _W, arguments.related, _choose_rel),
    "compare": Opcode((_O, _O), _W, arguments.family, _compare),
    "common": Opcode((_O, _O), _W, arguments.nothing, _common),
    "same": Opcode((_O, _O), _T, arguments.family, _same),
    "different": Opcode((_O, _O), _T, arguments.family, _different),
    "all same": Opcode((_O,), _T, arguments.word, _all_same),
    "all different": Opcode((_O,), _T, arguments.word, _different),
    "and": Opcode((_T, _T), _T, arguments.nothing, _and),
    "or": Opcode((_T, _T), _T, arguments.nothing, _or),
}
"""Every operation of the official programs, by its name with the number of inputs made plain."""


def run_step(scene: Scene, step: Instruction, results: Mapping[int, Result], *, resolve: Resolve) -> Result:
    """The result of a typed step, given the results of its dependencies.

    Raises:
        ProgramError: the step cannot run on this scene; the error names the step.
    """
    try:
        return OPCODES[step.operation].run(
            _Run(scene, resolve == "id"), step, *(results[d] for d in step.dependencies)
        )
    except ProgramError as error:
        raise error.within(f"step {step.position} ({step.step.operation}: {step.step.argument})") from error
