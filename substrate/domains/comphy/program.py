"""ComPhy's question programs: CLEVRER's language with mass, charge, direction and changed properties.

A question that needs an unknown mass or charge cannot run; its error names the missing property.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, cast

from substrate.base.errors import ProgramError
from substrate.domains.clevrer import program as clevrer
from substrate.domains.clevrer.kinds import Kind, Opcode, Tokens
from substrate.domains.clevrer.program import ProgramStep, World
from substrate.domains.clevrer.scene import SceneEvent
from substrate.domains.comphy._emitters import Kinematic, collisions
from substrate.domains.comphy.format import CHANGES
from substrate.domains.comphy.parameters import Parameters
from substrate.domains.comphy.scene import Emitter, PropertyChange, TargetScene


def run(program: Sequence[str], world: World, trace: Callable[[ProgramStep], None] | None = None) -> str:
    """Execute a program and give its answer, with CLEVRER's errors.

    Args:
        world: a :class:`TargetScene` with ComPhy's parameters.
    """
    return clevrer.run(_plain(program), world, trace, table=_TABLE)


def run_choices(
    question: Sequence[str], choices: Sequence[Sequence[str]], world: World
) -> Iterator[str | ProgramError]:
    """The answer or error of each choice's program followed by the question's."""
    return clevrer.run_choices(question, choices, world, table=_TABLE)


def _plain(program: Sequence[str]) -> list[str]:
    """The program without a ``unique`` right before a question about a pair, as some programs have it."""
    following = [*program[1:], ""]
    return [
        token
        for token, after in zip(program, following, strict=True)
        if not (token == "unique" and after.startswith("query_both_"))
    ]


def _scene(world: World) -> TargetScene:
    return cast("TargetScene", world.scene)


def _emitter(world: World) -> Emitter:
    if cast("Parameters", world.parameters).emitter == "kinematic":
        return Kinematic()
    if simulator := _scene(world).simulator:
        return simulator
    hint = "Install event-graph-research, or set emitter: kinematic"
    raise ProgramError("no simulator of masses and charges is here", hint=hint)


def _mass(world: World, object_: int) -> int:
    return _scene(world).known("mass", object_, cast("Parameters", world.parameters).least_probability)


def _charge(world: World, object_: int) -> int:
    return _scene(world).known("charge", object_, cast("Parameters", world.parameters).least_probability)


def _charged(charged: bool) -> Callable[[World, Sequence[int]], list[int]]:
    return lambda world, objects: [o for o in objects if bool(_charge(world, o)) is charged]


def _heavy(heavy: bool) -> Callable[[World, Sequence[int]], list[int]]:
    return lambda world, objects: [o for o in objects if (_mass(world, o) > 1) is heavy]


def _related(sign: int) -> Callable[[World, Any], list[int]]:
    """Keep the objects whose charge has the same sign as another's (1), or the opposite sign (-1).

    For a single object, give the scene's other objects whose charges relate so to its own.
    """

    def related(world: World, first: int, second: int) -> bool:
        return first != second and _charge(world, first) * _charge(world, second) * sign > 0

    def keep(world: World, objects: Any) -> list[int]:
        if isinstance(objects, int):
            return [o for o in world.scene.objects if related(world, o, objects)]
        pairs = [pair for pair in combinations(objects, 2) if related(world, *pair)]
        return sorted({o for pair in pairs for o in pair})

    return keep


def _equal_charge(world: World, first: int, second: int) -> str:
    charge = _charge(world, first)
    return "yes" if charge == _charge(world, second) and charge else "no"


def _compared(sign: int) -> Callable[[World, int, int], str]:
    return lambda world, a, b: "yes" if (_mass(world, a) - _mass(world, b)) * sign > 0 else "no"


def _query_both(name: str) -> Callable[[World, Sequence[int]], str]:
    def query(world: World, objects: Sequence[int]) -> str:
        if len(objects) != 2:
            raise ProgramError(f"query_both of {len(objects)} objects", hint="The description fits no pair")
        return " and ".join(getattr(world.scene.objects[o], name) for o in objects)

    return query


def _direction(world: World, object_: int, frame: Any) -> str:
    if frame == "null":
        raise ProgramError("the direction of an object over the whole video", hint="Name a frame")
    if object_ not in _scene(world).direction(frame):
        raise ProgramError(
            f"object {object_} moves in none of the four directions at frame {frame}",
            hint="It rests, is out of view, or moves aslant",
        )
    return _scene(world).direction(frame)[object_]


def _unseen(world: World) -> list[SceneEvent]:
    parameters = cast("Parameters", world.parameters)
    return collisions(_emitter(world).future(_scene(world), parameters))


def _changed(world: World, object_: int, word: str) -> list[SceneEvent]:
    scene = _scene(world)
    return collisions(_emitter(world).changed(scene, PropertyChange.of(scene, object_, word)))


def _happening(world: World, events: Sequence[SceneEvent], object_: int, word: str) -> list[SceneEvent]:
    still = {event.objects for event in _changed(world, object_, word)}
    return [event for event in events if event.kind == "Collision" and event.objects in still]


_K = Kind
_ANY_OBJECT = _K.OBJECT | _K.OBJECTS

OPCODES: dict[str, Opcode] = {
    **clevrer.OPCODES,
    "filter_charged": Opcode((_K.OBJECTS,), _K.OBJECTS, _charged(True), "charge"),
    "filter_uncharged": Opcode((_K.OBJECTS,), _K.OBJECTS, _charged(False), "charge"),
    "filter_heavy": Opcode((_K.OBJECTS,), _K.OBJECTS, _heavy(True), "mass"),
    "filter_light": Opcode((_K.OBJECTS,), _K.OBJECTS, _heavy(False), "mass"),
    "filter_same": Opcode((_ANY_OBJECT,), _K.OBJECTS, _related(1), "charge"),
    "filter_opposite": Opcode((_ANY_OBJECT,), _K.OBJECTS, _related(-1), "charge"),
    # This filters nothing: the comparison that follows reads the masses.
    "filter_mass": Opcode((_K.OBJECTS,), _K.OBJECTS, lambda world, objects: objects, "mass"),
    "equal_charge": Opcode((_K.OBJECT, _K.OBJECT), _K.YES_NO, _equal_charge, "charge"),
    "is_heavier": Opcode((_K.OBJECT, _K.OBJECT), _K.YES_NO, _compared(1), "mass"),
    "is_lighter": Opcode((_K.OBJECT, _K.OBJECT), _K.YES_NO, _compared(-1), "mass"),
    "query_both_color": Opcode((_K.OBJECTS,), _K.PAIR, _query_both("color"), "objects"),
    "query_both_material": Opcode((_K.OBJECTS,), _K.PAIR, _query_both("material"), "objects"),
    "query_both_shape": Opcode((_K.OBJECTS,), _K.PAIR, _query_both("shape"), "objects"),
    "query_direction": Opcode((_K.OBJECT, _K.FRAME | _K.NULL), _K.DIRECTION, _direction, "direction"),
    "unseen_events": Opcode((), _K.EVENTS, _unseen, "poses"),
    "counterfact_events": Opcode((_K.OBJECT, _K.CHANGE), _K.EVENTS, _changed, "poses"),
    "filter_counterfact": Opcode((_K.EVENTS, _K.OBJECT, _K.CHANGE), _K.EVENTS, _happening, "poses"),
    "not": clevrer.OPCODES["negate"],
}
OPCODES["get_counterfact"] = OPCODES["filter_counterfact"]

_CHANGE_WORDS = [*CHANGES, *(word.removeprefix("counterfact_") for word in CHANGES)]
WORDS: dict[str, Kind] = {**clevrer.WORDS, **dict.fromkeys(_CHANGE_WORDS, _K.CHANGE)}

_TABLE = Tokens(OPCODES, WORDS)
