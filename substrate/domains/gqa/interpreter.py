"""Answer GQA's questions: each step of a typed program runs one entry of :data:`OPERATIONS`.

Objects are found in two ways, which are two experiments: ``name`` reads the program as language, ``id`` uses
the ids in the program. A name may fit several objects. All of them remain candidates while later steps filter
them, so an object that makes the next step possible is preferred. Among the remaining candidates the closest
to the wording is chosen, then the largest, then the lowest id. The gold answer is never read before the
prediction is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Literal, NamedTuple

from substrate.base.errors import ParameterError, ProgramError, SubstrateError
from substrate.domains.gqa.format import Question
from substrate.domains.gqa.program import Instruction, Named, Related, compile_program
from substrate.domains.gqa.scene import EXACT, Node, Objects, Scene
from substrate.domains.rows import Row, graded

Resolve = Literal["name", "id"]
SUBSETS: Mapping[Resolve, str] = {"name": "by_name", "id": "by_id"}
"""The subset of a row, by the way its objects are found."""


class Judgement(NamedTuple):
    """Yes or no, with the candidates of a step for which it holds."""

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
    "all different": _different,
    "and": _and,
    "or": _or,
}
"""Every operation of :data:`substrate.domains.gqa.program.SIGNATURES`."""


def run_step(scene: Scene, step: Instruction, results: Mapping[int, Result], *, resolve: Resolve) -> Result:
    """The result of a typed step, given the results of its dependencies.

    Raises:
        ProgramError: the step cannot run on this scene; the error names the step.
    """
    try:
        return OPERATIONS[step.operation](
            _Run(scene, resolve == "id"), step, *(results[d] for d in step.dependencies)
        )
    except ProgramError as error:
        raise error.within(f"step {step.position} ({step.step.operation}: {step.step.argument})") from error


def predict(scene: Scene, question: Question, *, resolve: Resolve = "name") -> str:
    """The answer to a question about a scene.

    >>> from substrate.domains.gqa.format import Operation, SceneGraph, SceneObject
    >>> cup = SceneObject(name="cup", x=60, y=0, w=10, h=10, attributes=["red"])
    >>> scene = Scene.of("7", SceneGraph(width=100, height=100, objects={"1": cup}))
    >>> ask = [Operation("select", "cup (1)", []), Operation("query", "hposition", [0])]
    >>> predict(scene, Question("7", "On which side is the cup?", ask))
    'right'

    Raises:
        ProgramError: the program cannot run on this scene.
        FormatError: the program is malformed.
    """
    return _predicted(scene, question, compile_program(question.semantic), resolve)


def _predicted(scene: Scene, question: Question, steps: Sequence[Instruction], resolve: Resolve) -> str:
    results: dict[int, Result] = {}
    for step in steps:
        results[step.position] = run_step(scene, step, results, resolve=resolve)
    return answer_of(scene, question, steps[-1], results[len(steps) - 1])


def answer_of(scene: Scene, question: Question, last: Instruction, result: Result) -> str:
    """The answer that a program's last step gives.

    A chosen value has the question's own spelling: "metallic or wooden?" is answered "wooden", not "wood".
    """
    word = text_of(result)
    if last.operation != "choose":
        return word
    question_words = set(re.findall(r"[\w'-]+", question.question.lower()))
    if word in question_words:
        return word
    return next((spelling for spelling in scene.ontology.spellings(word) if spelling in question_words), word)


def text_of(result: Result) -> str:
    """The result of a last step as the answer's text."""
    if isinstance(result, Word):
        return result.word
    return "yes" if isinstance(result, Judgement) and result.holds else "no"


def answer_scene(
    scene: Scene,
    questions: Mapping[str, Question],
    split: str,
    *,
    resolve: Resolve | None = None,
    benchmark: str = "gqa",
) -> list[Row]:
    """Answer each question about a scene with one row per way to find objects, by question and subset.

    Args:
        scene: the image's event log, opened.
        questions: question id to question.
        split: the name of the split, for the rows.
        resolve: the way to find objects, by ``name`` or by the program's ``id``; by default both.
        benchmark: the benchmark's name, for the rows.

    If a program cannot run on its scene, its row has the answer ``error`` with the reason, and counts as
    wrong.

    Raises:
        ParameterError: ``resolve`` is unknown.
    """
    if resolve is not None and resolve not in SUBSETS:
        raise ParameterError(f"resolve is {resolve!r}", hint=f"Give one of {', '.join(SUBSETS)}")
    ways: Iterable[Resolve] = SUBSETS if resolve is None else (resolve,)
    common = {"benchmark": benchmark, "split": split, "scene": scene.image_id, "log": scene.digest}
    rows: list[Row] = []
    for number, question in questions.items():
        program: Sequence[Instruction] = ()
        for way in ways:
            try:
                program = program or compile_program(question.semantic)
                predicted, error = _predicted(scene, question, program, way), None
            except SubstrateError as fault:
                predicted, error = "error", str(fault)
            rows.append(
                graded(predicted, question.answer, error, subset=SUBSETS[way], question=number, **common)
            )
    return sorted(rows, key=lambda row: (str(row.question), row.subset))
