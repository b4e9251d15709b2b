"""GQA on what public data there is: real programs, and real scene graphs with questions of known answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from substrate.domains.gqa.explain import explain
from substrate.domains.gqa.format import (
    Question,
    SceneGraph,
    SceneObject,
    Step,
    read_questions,
    read_scene_graphs,
)
from substrate.domains.gqa.interpreter import Resolve, Scene, answer_scene
from substrate.domains.gqa.ontology import default
from substrate.domains.gqa.program import (
    Named,
    Related,
    compile_program,
)
from substrate.rules.tbox import TBox

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "gqa"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="no public GQA files at ../shared/data/gqa")


def program(text: str) -> list[Step]:
    """The steps of a program in GQA's written form, ``select: wall (3)->query: color [0]``."""
    steps = []
    for part in text.split("->"):
        match = re.fullmatch(r"(.*?):\s?(.*?)(?:\s*\[([\d, ]+)\])?", part)
        assert match, part
        steps.append(Step(match[1], match[2], [int(d) for d in match[3].split(",")] if match[3] else []))
    return steps


@pytest.fixture(scope="module")
def testdev() -> dict[str, Question]:
    return {
        question_id: question
        for file in ("ood_testdev_head", "ood_testdev_tail")
        for questions in read_questions(DATA / f"{file}.json.gz").values()
        for question_id, question in questions.items()
    }


@pytest.fixture(scope="module")
def scenes() -> dict[str, Scene]:
    return {
        image: Scene.of(image, graph)
        for image, graph in read_scene_graphs(DATA / "graphvqa_debug_sceneGraphs.json").items()
    }


def test_every_attribute_family_of_the_real_questions_is_in_the_tbox(testdev: dict[str, Question]) -> None:
    steps = (i for question in testdev.values() for i in compile_program(question.semantic))
    families = {i.family for i in steps if i.family}
    assert families <= set(default().families)


def test_real_scene_graphs_conform_to_the_shapes(scenes: dict[str, Scene]) -> None:
    tbox = TBox.load("gqa")
    assert {image: tbox.validate(scene.log.state(), scene.log) for image, scene in scenes.items()} == {
        image: [] for image in scenes
    }


# image, program, answer: the first two are the questions published with these graphs, the others were read
# off the graphs by hand.
QUESTIONS = [
    ("2354786", "select: sky (2486325)->verify: dark [0]", "yes"),
    ("2375429", "select: animal (722308)->query: name [0]", "horse"),
    ("2375429", "select: bench (722346)->choose vposition: top|bottom [0]", "bottom"),
    ("2375429", "select: door (722329)->select: fence (722342)->same material: [0, 1]", "yes"),
    ("2375429", "select: door (722329)->select: bench (722346)->common: [0, 1]", "material"),
    ("2375429", "select: horse (722308)->relate: building,near,s (722310) [0]->query: name [1]", "building"),
    ("2375429", "select: horse (722308)->filter color: not(black) [0]->exist: ? [1]", "yes"),
    ("2375429", "select: fence (722342)->verify age: old [0]->verify material: wood [0]->and: [1, 2]", "yes"),
    ("2375429", "select: cow (-)->exist: ? [0]->select: horse (722308)->exist: ? [2]->or: [1, 3]", "yes"),
    ("2375429", "select: door (722329)->verify rel: building,in front of,o (722310) [0]", "yes"),
    ("2354786", "select: scene->query: location [0]", "outdoors"),
    ("2354786", "select: car (2260042)->filter activity: waiting [0]->query: hposition [1]", "right"),
    ("2354786", "select: sign (2699995)->query: name [0]", "parking sign"),
    ("2336498", "select: scene->query: place [0]", "room"),
    ("2336498", "select: table (968671)->relate: _,on top of,s (968670) [0]->query: name [1]", "bowl"),
    ("2336498", "select: dog (968660,968662)->different: color [0]", "yes"),
]


@pytest.mark.parametrize("resolve", ["name", "id"])
@pytest.mark.parametrize(("image", "written", "answer"), QUESTIONS)
def test_real_scene_graphs_are_answered_right(
    scenes: dict[str, Scene], image: str, written: str, answer: str, resolve: Resolve
) -> None:
    question = Question(image, "", program(written), answer)
    scene = scenes[image]
    (row,) = answer_scene(scene, {"q": question}, "test", resolve=resolve)
    assert (row.predicted, row.correct, row.log) == (answer, True, scene.digest)
    assert explain(scene, question, resolve=resolve).answer == answer


def names_of(testdev: dict[str, Question]) -> set[str]:
    """The names of objects in the real programs and the real scene graphs."""
    names = {
        thing.name
        for graph in read_scene_graphs(DATA / "graphvqa_debug_sceneGraphs.json").values()
        for thing in graph.objects.values()
    }
    for question in testdev.values():
        for step in compile_program(question.semantic):
            if isinstance(step.argument, Named):
                names.add(step.argument.name)
            elif isinstance(step.argument, Related):
                names.add(step.argument.target.name)
    return names - {"_", "scene", "he", "she", "this"}


def finds(named: str, wanted: str) -> bool:
    """Tell whether an object of one name is found under another."""
    graph = SceneGraph(100, 100, {"1": SceneObject(named, 1, 1, 5, 5, [], [])}, None, None)
    return bool(Scene.of("0", graph).named(Named(wanted, None), by_id=False))


def test_every_real_name_is_found_in_the_other_number(testdev: dict[str, Question]) -> None:
    names = names_of(testdev)
    assert len(names) > 300
    missed: set[tuple[str, str]] = set()
    for name in names:
        if name.endswith(("ss", "y")):
            continue  # no plural in s alone
        if name.endswith("s"):
            other = name.removesuffix("s")
            pairs = [(name, other), (other, name)] if other in names or default().knows(other) else []
        else:
            other = f"{name}es" if name.endswith(("x", "ch", "sh")) else f"{name}s"
            pairs = [(name, other), (other, name)]
        missed |= {pair for pair in pairs if not finds(*pair)}
    # What is worn, and who cheers, are other things than the singular says.
    assert missed <= {("fan", "fans"), ("fans", "fan"), ("glass", "glasses"), ("glasses", "glass")}


@pytest.mark.parametrize(
    ("named", "wanted"),
    [
        ("couch", "sofas"),
        ("man", "people"),
        ("leaf", "leaves"),
    ],
)
def test_number_and_synonym_are_folded(named: str, wanted: str) -> None:
    assert finds(named, wanted)


def test_other_things_are_not_folded() -> None:
    assert not finds("glass", "glasses")
    assert not finds("bus", "bush")
    assert not finds("tree", "street")
