"""The interpreter of CLEVRER's question programs: a stack machine for postfix tokens, one entry per opcode.

It accepts the opcode names of the question files and of NS-DR's executor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter, gt, lt
from typing import Any, NamedTuple, Self

from substrate.base.errors import ProgramError
from substrate.domains.clevrer.counterfactual import judge
from substrate.domains.clevrer.emitter import future, voters
from substrate.domains.clevrer.format import COLORS, MATERIALS, RECORDED_AFTER, SHAPES
from substrate.domains.clevrer.kinds import ANSWERS, Kind, Opcode, Tokens, named, unfit
from substrate.domains.clevrer.kinematics import predict_collisions
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.scene import Scene, SceneEvent, Thing, lacking

_K = Kind
_ANY_OBJECT, _SET = _K.OBJECT | _K.OBJECTS, _K.OBJECTS | _K.EVENTS


class World(NamedTuple):
    """The inputs of an opcode: the scene and the parameters, never a question's gold."""

    scene: Scene
    parameters: Parameters

    @classmethod
    def of(cls, scene: Scene, parameters: Parameters) -> Self:
        """A scene's world, with the parameters in force for it."""
        return cls(scene, parameters.of(scene))


class ProgramStep(NamedTuple):
    """An executed token: the values that it popped, and the value that it pushed."""

    place: int
    token: str
    arguments: tuple[Any, ...]
    kind: Kind
    result: Any


def run(
    program: Sequence[str],
    world: World,
    trace: Callable[[ProgramStep], None] | None = None,
    *,
    table: Tokens | None = None,
) -> str:
    """Execute a program and give its answer: ``yes`` or ``no``, a number, or an attribute's value.

    Args:
        program: tokens in postfix order; in multiple choice the choice's tokens, then the question's.
        trace: called with every step, for explanations.
        table: a language that extends this one.

    Raises:
        ProgramError: an unknown opcode, a stack underflow, an operand of the wrong kind, ``unique`` on
            no element or several, or a program that does not leave one answer; names the token's place.
    """
    values: list[Any] = []
    _, after = _execute(program, values, _TABLE if table is None else table, world, trace=trace)
    return _answer(values, after, len(program))


def _answer(values: list[Any], table: Tokens, end: int) -> str:
    kinds = table.kinds
    if len(kinds) != 1 or not kinds[0] & ANSWERS.value:
        left = ", ".join(map(named, kinds)) or "nothing"
        what, hint = f"the program leaves {left} on the stack, not one answer", "A program ends in one answer"
        raise ProgramError(what, where=(f"program[{end}]",), hint=hint)
    return str(values[0])


def run_choices(
    question: Sequence[str], choices: Sequence[Sequence[str]], world: World, *, table: Tokens | None = None
) -> Iterator[str | ProgramError]:
    """Run each choice's program, then the question's; give each answer or error.

    The part of the question's program that does not need the choice runs once.
    """
    empty, shared = _TABLE if table is None else table, list[Any]()
    try:
        reached, above = _execute(question, shared, empty, world, until_underflow=True)
    except ProgramError:  # the choice's own error comes first
        shared, reached, above = [], 0, empty
    for choice in choices:
        try:
            values: list[Any] = []
            _, after = _execute(choice, values, empty, world)
            values += shared
            for kind in above.kinds:
                after = after.pushed(kind)
            _, after = _execute(question, values, after, world, start=reached, offset=len(choice))
            yield _answer(values, after, len(choice) + len(question))
        except ProgramError as error:
            yield error


def _execute(
    program: Sequence[str],
    values: list[Any],
    table: Tokens,
    world: World,
    *,
    start: int = 0,
    offset: int = 0,
    until_underflow: bool = False,
    trace: Callable[[ProgramStep], None] | None = None,
) -> tuple[int, Tokens]:
    """Run tokens on a stack; return the index of the token it stopped before, and the table there.

    Args:
        values: the stack, which is changed.
        table: what each token does on a stack of these kinds of values.
        start: the index of the first token to run.
        offset: the number of tokens that ran before the program, for places in errors.
        until_underflow: stop before the first token that lacks an operand; by default this is an error.
        trace: called with every step.
    """
    for index, token in enumerate(program[start:], start):
        try:
            function, size, after = table[token]
            if after is None:  # the operands do not fit
                if until_underflow:
                    return index, table
                raise unfit(token, table.opcodes[token].takes, table.kinds)
            arguments = (values.pop(),) if size == 1 else values[-size:] if size else ()
            result = function(world, *arguments) if function else token
        except ProgramError as error:
            raise error.within(f"program[{offset + index}]") from error
        if size > 1:
            del values[-size:]
        values.append(result)
        table = after
        if trace:
            trace(ProgramStep(index, token, tuple(arguments), Kind(after.kind), result))
    return len(program), table


def _unique(world: World, elements: Sequence[Any]) -> Any:
    if len(elements) != 1:
        raise ProgramError(f"unique on {len(elements)} elements", hint="The description fits none or several")
    return elements[0]


def _filter(name: str) -> Opcode:
    """Keep the objects with a value of an attribute."""
    place = Thing._fields.index(name)

    def keep(world: World, objects: Sequence[int], value: str) -> list[int]:
        things = world.scene.objects
        return [o for o in objects if things[o][place] == value]

    return Opcode((Kind.OBJECTS, Kind[name.upper()]), Kind.OBJECTS, keep, "objects")


def _query(name: str) -> Opcode:
    value, kind = attrgetter(name), Kind[name.upper()]
    return Opcode((Kind.OBJECT,), kind, lambda world, object_: value(world.scene.objects[object_]), "objects")


def _motion(moving: bool) -> Opcode:
    """Keep the objects that move, or the others; ``MOVING_SPEED`` in ``format.py`` tells the whole way."""

    def keep(world: World, objects: Sequence[int], frame: Any) -> list[int]:
        if frame == "null":
            scene, things = world.scene, world.scene.objects
            scene.motion(scene.end)  # raises an error if the log has no motion
            return [o for o in objects if things[o].moved is moving]
        motion = world.scene.motion(frame)
        return [o for o in objects if motion.get(o) is moving]

    return Opcode((Kind.OBJECTS, Kind.FRAME | Kind.NULL), Kind.OBJECTS, keep, "motion")


def _of_kind(kind: str) -> Opcode:
    """Keep the events of a kind with a given object, or with any of some objects."""

    def keep(world: World, events: Sequence[SceneEvent], objects: Any) -> list[SceneEvent]:
        if isinstance(objects, int):
            return [e for e in events if objects in e.objects and e.kind == kind]
        return [e for e in events if e.kind == kind and not e.objects.isdisjoint(objects)]

    return Opcode((Kind.EVENTS, _ANY_OBJECT), Kind.EVENTS, keep, "events")


def _boundary(kind: str) -> Callable[..., SceneEvent]:
    def pick(world: World, events: Sequence[SceneEvent] | None = None) -> SceneEvent:
        given = world.scene.events if events is None else events
        return _unique(world, [event for event in given if event.kind == kind])

    return pick


def _frame(world: World, event: SceneEvent) -> int:
    if event.frame is None:
        what = "the frame of an event that was not observed"
        raise ProgramError(what, hint="Only observed events have a frame")
    return event.frame


def _by_frame(compare: Callable[[int, int], bool]) -> Opcode:
    """Keep the events for whose frame and another event's frame ``compare`` is true."""

    def keep(world: World, events: Sequence[SceneEvent], event: SceneEvent) -> list[SceneEvent]:
        frame = _frame(world, event) if events else 0
        return [e for e in events if compare(_frame(world, e), frame)]

    return Opcode((Kind.EVENTS, Kind.EVENT), Kind.EVENTS, keep, "events")


_ORDER = {"first": 0, "second": 1, "last": -1}


def _ordered(world: World, events: Sequence[SceneEvent], order: str) -> SceneEvent:
    place = _ORDER[order]
    if not -len(events) <= place < len(events):
        raise ProgramError(f"{order} of {len(events)} events", hint="The description fits too few events")
    return events[place]


def _partner(world: World, event: SceneEvent, object_: int) -> int:
    if event.kind != "Collision" or object_ not in event.objects:
        what = f"object {object_} takes no part in this collision"
        raise ProgramError(what, hint="Name one of the two that collide")
    return _unique(world, [o for o in event.objects if o != object_])


def _participant(world: World, event: SceneEvent) -> int:
    if event.kind not in ("Entry", "Exit"):
        raise ProgramError(f"get_object of a {event.kind}", hint="Only entries and exits have one object")
    return _unique(world, list(event.objects))


def _belongs(world: World, sought: Any, events: Sequence[SceneEvent]) -> str:
    if isinstance(sought, int):
        return _yes_no(any(sought in e.objects for e in events))
    return _yes_no(any(e.kind == sought.kind and e.objects == sought.objects for e in events if e.objects))


def _ancestors(world: World, events: Sequence[SceneEvent], event: SceneEvent) -> list[SceneEvent]:
    ancestry = world.scene.ancestry(world.parameters.explanatory.reference_frame).get(event.iri)
    return [e for e in events if ancestry and e.iri in ancestry.events]


def _unseen(world: World) -> list[SceneEvent]:
    scene = world.scene
    if not scene.has_motion:
        raise lacking("asks for the future, which a compact event file has no motion for")
    kinematics, engine = world.parameters.predictive.kinematics, world.parameters.engine
    if kinematics is None:
        return _by_vote([_after(unseen(v, world.parameters), scene.end) for v in voters(scene, engine)])
    collisions = predict_collisions(scene.samples, scene.end, kinematics)
    return [SceneEvent("Collision", None, frozenset((a, b))) for a, b, _ in collisions]


def _after(branch: Scene, end: int) -> dict[frozenset[int], SceneEvent]:
    return {e.objects: e for e in branch.events if e.kind == "Collision" and (e.frame or 0) > end}


def _by_vote(futures: Sequence[Mapping[frozenset[int], SceneEvent]]) -> list[SceneEvent]:
    """The collisions of most futures; a single future's with their frames."""
    if len(futures) == 1:
        return list(futures[0].values())
    votes = Counter(pair for pairs in futures for pair in pairs)
    return [SceneEvent("Collision", None, pair) for pair, count in votes.items() if 2 * count > len(futures)]


def unseen(scene: Scene, parameters: Parameters) -> Scene:
    """The simulated future, up to the parameters' horizon."""
    horizon = parameters.predictive.horizon
    return future(scene, RECORDED_AFTER if horizon is None else horizon, parameters.engine)


def _counterfactual(world: World, *given: Any) -> list[SceneEvent]:
    """Keep the given events, or any pair's collisions, that occur with an object removed."""
    *events, removed = given
    settings, engine = world.parameters.counterfactual, world.parameters.engine
    candidates = events[0] if events else world.scene.pairs
    return [e for e in candidates if judge(world.scene, e, removed, settings, engine).occurs]


def _yes_no(truth: bool) -> str:
    return "yes" if truth else "no"


OPCODES: dict[str, Opcode] = {
    **{f"filter_{name}": _filter(name) for name in Thing._fields[:3]},
    **{f"query_{name}": _query(name) for name in Thing._fields[:3]},
    "objects": Opcode((), _K.OBJECTS, lambda world: world.scene.numbers, "objects"),
    "events": Opcode((), _K.EVENTS, lambda world: world.scene.events, "events"),
    "unseen_events": Opcode((), _K.EVENTS, _unseen, "poses"),
    "all_events": Opcode((), _K.EVENTS, lambda world: world.scene.pairs, "objects"),
    "filter_moving": _motion(True),
    "filter_stationary": _motion(False),
    "filter_in": _of_kind("Entry"),
    "filter_out": _of_kind("Exit"),
    "filter_collision": _of_kind("Collision"),
    "filter_before": _by_frame(lt),
    "filter_after": _by_frame(gt),
    "filter_order": Opcode((_K.EVENTS, _K.ORDER), _K.EVENT, _ordered, "events"),
    "start": Opcode((), _K.EVENT, _boundary("Start"), "events"),
    "end": Opcode((), _K.EVENT, _boundary("End"), "events"),
    "filter_start": Opcode((_K.EVENTS,), _K.EVENT, _boundary("Start"), "events"),
    "filter_end": Opcode((_K.EVENTS,), _K.EVENT, _boundary("End"), "events"),
    "get_frame": Opcode((_K.EVENT,), _K.FRAME, _frame, "events"),
    "get_col_partner": Opcode((_K.EVENT, _K.OBJECT), _K.OBJECT, _partner, "events"),
    "get_object": Opcode((_K.EVENT,), _K.OBJECT, _participant, "events"),
    "unique": Opcode((_SET,), None, _unique),
    "count": Opcode((_SET,), _K.NUMBER, lambda world, elements: len(elements)),
    "exist": Opcode((_SET,), _K.YES_NO, lambda world, elements: _yes_no(bool(elements))),
    "negate": Opcode((_K.YES_NO,), _K.YES_NO, lambda world, answer: _yes_no(answer == "no")),
    "belong_to": Opcode((_ANY_OBJECT & ~_K.OBJECTS | _K.EVENT, _K.EVENTS), _K.YES_NO, _belongs),
    "filter_ancestor": Opcode((_K.EVENTS, _K.EVENT), _K.EVENTS, _ancestors, "events"),
    "get_counterfact": Opcode((_K.EVENTS, _K.OBJECT), _K.EVENTS, _counterfactual, "events"),
}
OPCODES |= {
    "query_frame": OPCODES["get_frame"],
    "query_object": OPCODES["get_object"],
    "query_collision_partner": OPCODES["get_col_partner"],
    "filter_resting": OPCODES["filter_stationary"],
    "filter_counterfact": OPCODES["get_counterfact"],
    "counterfact_events": Opcode((_K.OBJECT,), _K.EVENTS, _counterfactual, "events"),
}

REMOVALS = tuple(name for name, opcode in OPCODES.items() if opcode.run is _counterfactual)
"""The opcodes that imagine a world without an object, their last operand."""
IMAGINING = (*REMOVALS, "unseen_events")
"""The opcodes whose events no frame shows."""

WORDS: dict[str, Kind] = {
    **dict.fromkeys(COLORS, _K.COLOR),
    **dict.fromkeys(MATERIALS, _K.MATERIAL),
    **dict.fromkeys(SHAPES, _K.SHAPE),
    **dict.fromkeys(_ORDER, _K.ORDER),
    "null": _K.NULL,
}

_TABLE = Tokens(OPCODES, WORDS)
