"""GQA's files: scene graphs and questions with semantic programs, as typed records.

A scene-graph file maps image ids to ``{width, height, location?, weather?, objects: {id: {name, x, y,
w, h, attributes, relations: [{name, object}]}}}``; boxes are pixels from the upper left corner. A
question file maps question ids to ``{question, imageId, answer, semantic: [{operation, argument,
dependencies}]}``. Source: Hudson and Manning, GQA, CVPR 2019.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import msgspec

from substrate.base.errors import FormatError
from substrate.base.inputs import NOT_JSON, Whole, decode, read_bytes
from substrate.base.limits import LIMITS
from substrate.base.records import Index, Records, Span, Text, listed

SCENE_GRAPHS_FILE = "sceneGraphs.json"
QUESTIONS_FILE = "questions.json"
LONGEST_LINE = 1 << 20
"""The most bytes of a first line that may be a question of JSON lines; a longer line is the whole file."""

VERBS: Mapping[str, tuple[int, ...]] = {
    "select": (0,),
    **dict.fromkeys(("relate", "filter", "query", "verify"), (1,)),
    "choose": (1, 2),
    "exist": (1,),
    **dict.fromkeys(("and", "or"), (2,)),
    **dict.fromkeys(("same", "different"), (1, 2)),
    "common": (2,),
}
"""The allowed numbers of dependencies, by an operation's first word; other words name an attribute family.

A file is checked by this table as it is read, so that an error names the file's place. The kinds of a step's
inputs are checked when a program is typed, by ``OPCODES`` of ``operations.py``.
"""


class Relation(msgspec.Struct, frozen=True, gc=False):
    """A named edge from the object that lists it to another object."""

    name: str
    object: str


class SceneObject(msgspec.Struct, frozen=True):
    """An object of a scene: its class name, box (pixels), attributes and outgoing relations."""

    name: str
    x: Whole
    y: Whole
    w: Whole
    h: Whole
    attributes: list[str] = []
    relations: list[Relation] = []


class SceneGraph(msgspec.Struct, frozen=True, omit_defaults=True):
    """An image: its size in pixels, its objects by id, its location and weather."""

    width: Whole
    height: Whole
    objects: dict[str, SceneObject]
    location: str | None = None
    weather: str | None = None


class Operation(msgspec.Struct, frozen=True):
    """An operation of a semantic program; ``dependencies`` are positions of other steps."""

    operation: str
    argument: str
    dependencies: list[Whole]


class Question(msgspec.Struct, frozen=True, omit_defaults=True, rename={"image_id": "imageId"}):
    """A question about an image; ``answer`` is absent without gold."""

    image_id: str
    question: str
    semantic: list[Operation]
    answer: str | None = None


_graph = msgspec.json.Decoder(SceneGraph)
_raw_by_id = msgspec.json.Decoder(dict[str, msgspec.Raw])
_question = msgspec.json.Decoder(Question)


def read_scene_graphs(path: Path) -> Records[str, SceneGraph]:
    """The scene graphs of a file, gzipped or not.

    Raises:
        FormatError: the file is absent, empty, cut off or not a JSON object. A scene that breaks the format
            raises when it is read; the error names file, image and path.
    """
    text = Text(path)
    index = Index[str]()
    if text.first != b"{":
        decode(_raw_by_id, read_bytes(path), path)  # raises, and names the type found
    for image, span, raw in text.elements():
        if span is None:
            decode_scene_graph(str(path), image, raw)  # not an object: raises
        else:
            index.add(image, span)
    if not index:
        raise FormatError("holds no scene graph", where=(path,), hint="Give a file with at least one image")
    return Records(str(path), index, decode_scene_graph)


def decode_scene_graph(name: str, image_id: str, data: bytes | msgspec.Raw) -> SceneGraph:
    """Decode and check a scene graph.

    >>> cup = b'{"name": "cup", "x": 0, "y": 0, "w": 2, "h": 2, "relations": [{"name": "on", "object": "5"}]}'
    >>> decode_scene_graph("a.json", "7", b'{"width": 9, "height": 9, "objects": {"1": %s}}' % cup)
    Traceback (most recent call last):
    substrate.base.errors.FormatError: a.json: image 7: $.objects.1.relations[0].object: no object 5 in this
    scene. Name one of its objects, or drop the relation.

    Raises:
        FormatError: names file, image and path: a field is missing or mistyped, the image or a box has
            no size, a name is blank, or a relation points to no object.
    """
    where = (name, f"image {image_id}")
    graph = decode(_graph, data, *where)
    for path, what, hint in _faults(graph):  # the first fault, if there is one
        raise FormatError(what, where=(*where, path), hint=hint)
    return graph


def _faults(graph: SceneGraph) -> Iterator[tuple[str, str, str]]:
    """The faults that types cannot exclude: path, fault and remedy of each."""
    for field, size in (("width", graph.width), ("height", graph.height)):
        if size < 1:
            yield f"$.{field}", f"{field} is {size}", "An image is at least a pixel wide and high"
    for object_id, thing in graph.objects.items():
        path = f"$.objects.{object_id}"
        if not thing.name.strip():
            yield f"{path}.name", "the name is blank", "Name the object's class"
        if thing.w < 0 or thing.h < 0:
            yield path, f"the box is {thing.w} by {thing.h}", "A box has no negative side"
        for index, relation in enumerate(thing.relations):
            if relation.object not in graph.objects:
                what = f"no object {relation.object} in this scene"
                hint = "Name one of its objects, or drop the relation"
                yield f"{path}.relations[{index}].object", what, hint


def read_questions(path: Path) -> Records[str, Records[str, Question]]:
    """Read and check a question file, by image id, then by question id, both sorted.

    It may be the official object of ``{id: record}``, a list, or JSON lines of records with ``question_id``
    (or ``questionId``), gzipped or not.

    Raises:
        FormatError: names file, question and path: the file is absent, empty or cut off, a field is
            missing or mistyped, an operation is unknown, or its dependencies dangle or form a cycle.
    """
    text = Text(path)
    index = Index[str]()
    for question_id, span, data in _question_records(text):
        image = decode_question(str(path), question_id, data).image_id
        if not index.add(image, span, question_id):
            raise FormatError(
                "the question occurs twice",
                where=(path, f"question {question_id}"),
                hint="Give every question one record",
            )
    if not index:
        raise FormatError("holds no question", where=(path,), hint="Give a file with at least one question")

    def about(name: str, image: str, _: msgspec.Raw) -> Records[str, Question]:
        return Records(name, index.parts(image), decode_question)

    return Records(str(path), index, about)


class _Identified(msgspec.Struct, frozen=True):
    question_id: str | int | None = None
    camel_case: str | int | None = msgspec.field(default=None, name="questionId")


def _question_records(text: Text) -> Iterator[tuple[str, Span | None, msgspec.Raw]]:
    if text.first != b"[" and not _first_line_is_a_record(text):
        # An object of records, as in the official files.
        yield from text.elements()
        return
    decoder = msgspec.json.Decoder(_Identified)
    for where, span, record in listed(text):
        identified = decode(decoder, record, *where)
        number = identified.question_id if identified.question_id is not None else identified.camel_case
        if number is None:
            raise FormatError("the record has no question_id", where=where, hint="Number every question")
        yield str(number), span, record


def _first_line_is_a_record(text: Text) -> bool:
    line = text.read(0, LONGEST_LINE).lstrip().partition(b"\n")[0]
    try:
        return "imageId" in msgspec.json.decode(line, type=dict[str, msgspec.Raw])
    except NOT_JSON:
        return False


def decode_question(name: str, question_id: str, data: bytes | msgspec.Raw) -> Question:
    """Decode and check a question; errors as :func:`read_questions`."""
    where = (name, f"question {question_id}")
    question = decode(_question, data, *where)
    check_program(question.semantic, where)
    return question


def check_program(steps: list[Operation], where: tuple[object, ...] = ()) -> list[int]:
    """Refuse a malformed program, whatever its scene; return its steps in the order of :func:`order`.

    >>> check_program([Operation("select", "cup", []), Operation("query", "color", [3])])
    Traceback (most recent call last):
    substrate.base.errors.FormatError: $.semantic[1].dependencies[0]: no step 3 in a program of 2. Name
    another step of the program.

    Raises:
        FormatError: no step, an unknown operation, a wrong number of dependencies, a dependency on a
            missing step, or steps that depend on one another.
    """
    for path, what, hint in _faults_of(steps):
        raise FormatError(what, where=(*where, f"$.semantic{path}"), hint=hint)
    return order(steps, where)


def _faults_of(steps: list[Operation]) -> Iterator[tuple[str, str, str]]:
    """The faults of a program's steps: path, fault and remedy of each."""
    if not steps:
        yield "", "the program is empty", "A program has at least one step"
    if len(steps) > LIMITS.steps:
        hint = "If it is meant to, raise steps in SUBSTRATE_LIMITS"
        yield "", f"the program has more than {LIMITS.steps} steps", hint
    for index, step in enumerate(steps):
        arity = VERBS.get(step.operation.split(" ", 1)[0])
        if arity is None:
            hint = f"Operations begin with {', '.join(VERBS)}"
            yield f"[{index}].operation", f"unknown operation {step.operation!r}", hint
            return
        for position, dependency in enumerate(step.dependencies):
            if not 0 <= dependency < len(steps):
                what = f"no step {dependency} in a program of {len(steps)}"
                yield f"[{index}].dependencies[{position}]", what, "Name another step of the program"
        if len(step.dependencies) not in arity:
            wanted = " or ".join(map(str, arity))
            what = f"{step.operation!r} has {len(step.dependencies)} dependencies, not {wanted}"
            yield f"[{index}].dependencies", what, "Give as many as it takes"


def order(steps: list[Operation], where: tuple[object, ...] = ()) -> list[int]:
    """The steps sorted so that each follows its dependencies; official programs are already sorted.

    A program that is not sorted is read repeatedly from first step to last; each step runs in the first
    reading in which it can.

    >>> order([Operation("exist", "?", [1]), Operation("select", "cup", [])])
    [1, 0]

    Raises:
        FormatError: steps depend on one another; the cycle is written out.
    """
    if all(dependency < index for index, step in enumerate(steps) for dependency in step.dependencies):
        return list(range(len(steps)))
    readings: dict[int, int] = {}
    try:
        for index in TopologicalSorter({i: s.dependencies for i, s in enumerate(steps)}).static_order():
            # The result of a step that stands later is there only in the next reading
            before = (readings[other] + (other > index) for other in steps[index].dependencies)
            readings[index] = max(before, default=0)
    except CycleError as error:
        *cycle, _ = reversed(error.args[1])
        first = cycle.index(min(cycle))
        loop = list(map(str, [*cycle[first:], *cycle[: first + 1]]))
        if len(loop) > 20:
            loop[10:-9] = ["…"]
        raise FormatError(
            f"steps depend on one another: {' -> '.join(loop)}",
            where=(*where, f"$.semantic[{cycle[first]}].dependencies"),
            hint="A step depends on others' results only",
        ) from None
    return sorted(readings, key=lambda index: (readings[index], index))


def require_scenes(questions: Mapping[str, Mapping[str, Question]], graphs: Records[str, SceneGraph]) -> None:
    """Refuse questions about images without a scene graph.

    Raises:
        FormatError: names the file of scene graphs, the first such image and one of its questions.
    """
    missing = [image for image in questions if image not in graphs]
    if missing:
        question = next(iter(questions[missing[0]]))
        what = f"no scene graph of image {missing[0]}, which question {question} is about"
        more = f"; {len(missing)} images lack theirs" if missing[1:] else ""
        hint = "Give the scene graphs of the split the questions belong to"
        raise FormatError(what + more, where=(graphs.name,), hint=hint)
