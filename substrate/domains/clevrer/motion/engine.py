"""A deterministic planar simulator of CLEVRER's scenes: discs and squares, drag, friction and impulses.

Plain Python floats in a fixed order: equal bodies give equal bits. It shares no code with Bullet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations
from math import hypot

from msgspec import Struct

from substrate.base.errors import ParameterError
from substrate.domains.clevrer.format import Shape
from substrate.domains.clevrer.motion.contact import Point, Pose, meeting
from substrate.domains.clevrer.motion.law import LAW, Law

_SWEEPS = 10  # of the impulse solver over all contacts; two bodies need one, a chain of five fewer than ten
_FOREVER = 1000  # frames; a longer simulation checks again after these
_CAREFUL = 0.999  # so that rounding adds no frame to those in which no pair comes near
Contact = tuple[int, int, int]
"""Frame and two bodies, the lower id first."""


class Body(Struct, frozen=True):
    """A solid on the ground plane: place (units), velocity (units/s), yaw (radians), spin (radians/s),
    relative mass.
    """

    id: int
    shape: Shape
    x: float
    y: float
    vx: float = 0.0
    vy: float = 0.0
    yaw: float = 0.0
    spin: float = 0.0
    mass: float = 1.0


class Motion(Struct, frozen=True):
    """The outcome of a simulation.

    ``contacts`` has each pair's first contact as ``(frame, a, b)``, a < b, in time order. Frame 1 is the
    first after the start; a pair that touches at the start has frame 0. ``final`` is the last state, by id.
    With ``trace``, ``states`` has the state at the start and after each frame.
    """

    contacts: list[Contact]
    final: list[Body]
    states: list[list[Body]] | None = None


def simulate(
    bodies: Sequence[Body], frames: int, *, remove: int | None = None, trace: bool = False, law: Law = LAW
) -> Motion:
    """Move ``bodies`` over ``frames`` frames, without body ``remove``.

    Raises:
        ParameterError: two bodies have the same id, or ``remove`` is the id of no body.

    >>> motion = simulate([Body(0, "sphere", 0.0, 0.0, 2.0), Body(1, "cube", 1.0, 0.0)], frames=20)
    >>> motion.contacts
    [(11, 0, 1)]
    >>> simulate([Body(0, "sphere", 0.0, 0.0, 2.0), Body(1, "cube", 1.0, 0.0)], 20, remove=1).contacts
    []
    """
    names = [body.id for body in bodies]
    if len(set(names)) != len(names):
        raise ParameterError("an id occurs twice", where=("bodies",), hint="Number every body once")
    if remove is not None and remove not in names:
        raise ParameterError(
            f"remove={remove} is not among the bodies {sorted(names)}", hint="Name a body of the scene"
        )
    remaining = sorted((body for body in bodies if body.id != remove), key=lambda body: body.id)
    rows = [_Row(body, law) for body in remaining]
    world = _World(law, tuple(b.shape for b in remaining), rows)
    states = [_bodies(remaining, rows)] if trace else None
    frame = 0
    while frame < frames:
        frame += world.advance(frame, frames if states is None else frame + 1)
        if states is not None:
            states.append(_bodies(remaining, rows))
    contacts = sorted((frame, remaining[i].id, remaining[j].id) for (i, j), frame in world.contacts.items())
    return Motion([contact for contact in contacts if contact[0] <= frames], _bodies(remaining, rows), states)


class _Row(Pose):
    """A moving body: pose, velocity, spin, its response to an impulse (inverse mass and inverse inertia), and
    its decelerations by the ground.
    """

    __slots__ = ("friction", "inverse_inertia", "inverse_mass", "spin", "turning", "vx", "vy")

    def __init__(self, body: Body, law: Law) -> None:
        super().__init__(body.x, body.y, body.yaw)
        self.vx: float = body.vx
        self.vy: float = body.vy
        self.spin: float = body.spin
        self.inverse_mass: float = 1 / body.mass
        self.inverse_inertia: float = 1 / (body.mass * law.inertia)
        self.friction: float = 0.0 if body.shape == "sphere" else law.friction
        self.turning: float = 0.0 if body.shape == "sphere" else law.turning


def _bodies(bodies: list[Body], rows: list[_Row]) -> list[Body]:
    return [
        Body(b.id, b.shape, r.x, r.y, r.vx, r.vy, r.yaw, r.spin, b.mass)
        for b, r in zip(bodies, rows, strict=True)
    ]


class _World:
    """The bodies as rows of floats, with the step from one frame to the next."""

    def __init__(self, law: Law, shapes: tuple[Shape, ...], rows: list[_Row]) -> None:
        self.law = law
        self.rows = rows
        self.contacts: dict[tuple[int, int], int] = {}
        self.pairs = _pairs(shapes, law)
        self.quiet = 0  # frames ahead in which no pair can come near

    def advance(self, frame: int, end: int) -> int:
        """Advance by one frame; while no pair can come near, by several, up to ``end``. Return how many.

        Each of a frame's ``substeps`` steps finds contacts, slows bodies down, exchanges impulses and moves.
        """
        rows = self.rows
        if self.quiet:
            ahead = min(self.quiet, end - frame)
            self.quiet -= ahead
            for row in rows:
                _glide(row, ahead, self.law)
            return ahead
        near = self._near()
        busy = {k for pair in near for k in (pair.i, pair.j)}
        for k, row in enumerate(rows):
            if k not in busy:
                _glide(row, 1, self.law)
        if near:
            self._step_by_step(frame, near, [rows[k] for k in sorted(busy)])
        return 1

    def _step_by_step(self, frame: int, near: list[_Pair], moving: list[_Row]) -> None:
        rows, law = self.rows, self.law
        length, reach, radius = law.step, law.reach, law.radius
        closing = [(pair, rows[pair.i], rows[pair.j], pair.meet, pair.reach) for pair in near]
        for step in range(law.substeps):
            touching: list[tuple[_Pair, Point]] = []
            for pair, a, b, meet, within in closing:
                if hypot(a.x - b.x, a.y - b.y) < within:
                    touching += [(pair, point) for point in meet(a, b, reach, radius)]
            _brake(moving, law)
            if touching:
                stamp = frame if step < law.stamp else frame + 1
                for pair in self._exchange(touching):
                    self.contacts.setdefault((pair.i, pair.j), stamp)
            for row in moving:
                row.x += length * row.vx
                row.y += length * row.vy
                row.yaw += length * row.spin

    def _near(self) -> list[_Pair]:
        """The pairs that may touch within a frame because a body of the pair moves or may be pushed.

        If there are none, set ``quiet`` to the number of frames for which this holds.
        """
        rows = self.rows
        speeds = [hypot(row.vx, row.vy) for row in rows]
        awake = [bool(speed or row.spin) for speed, row in zip(speeds, rows, strict=True)]
        if not any(awake):
            self.quiet = _FOREVER
            return []
        way = 2 * max(speeds) * self.law.frame  # two bodies come nearer by at most this in a frame
        margin = max(0.1, way)  # a push passes on at most the speed of the fastest body
        close: list[_Pair] = []
        room = _FOREVER * way  # the least distance that some moving pair has left before it is near
        pushed: set[int] = set()  # the bodies that move or may be pushed
        for pair in self.pairs:
            i, j = pair.i, pair.j
            a, b = rows[i], rows[j]
            gap = hypot(a.x - b.x, a.y - b.y)
            moves = awake[i] or awake[j]
            if gap < pair.reach + margin:
                close.append(pair)
                if moves:
                    pushed |= {i, j}
            elif moves and gap - pair.reach - margin < room:
                room = gap - pair.reach - margin
        if not pushed and way:
            self.quiet = int(room / way * _CAREFUL)  # bodies that glide come no nearer than this
        return [pair for pair in close if pair.i in pushed or pair.j in pushed]

    def _exchange(self, touching: list[tuple[_Pair, Point]]) -> list[_Pair]:
        """Apply sequential impulses along the normals; return the pairs that exchanged any."""
        law = self.law
        rows: list[_Impulse] = [
            _Impulse(pair, point, self.rows[pair.i], self.rows[pair.j], law) for pair, point in touching
        ]
        for _ in range(_SWEEPS if len(rows) > 1 else 1):
            for row in rows:
                row.apply()
        return [row.pair for row in rows if row.total > 0]


def _glide(row: _Row, frames: int, law: Law) -> None:
    """Move a body that touches no other over some frames."""
    friction, drag, step, steps = row.friction, law.drag, law.step, range(law.substeps)
    for _ in range(frames):
        vx, vy = row.vx, row.vy
        if row.spin:
            alone = [row]
            for _ in steps:
                _brake(alone, law)
                row.x += step * row.vx
                row.y += step * row.vy
                row.yaw += step * row.spin
            continue
        if not (vx or vy):
            return
        speed = hypot(vx, vy)
        # On a straight line only the speed changes.
        now, travelled = speed, 0.0
        for _ in steps:
            now -= step * (friction + drag * now * (1 + now))
            if now <= 0:
                now = 0.0
                break
            travelled += now
        share = step * travelled / speed
        row.x += vx * share
        row.y += vy * share
        keep = now / speed
        row.vx = vx * keep
        row.vy = vy * keep


def _brake(moving: list[_Row], law: Law) -> None:
    """Slow bodies down by one step of ground friction and drag.

    Friction on a spinning body acts at a cube's corner: √2 (1.4142) half edges from the centre.
    """
    step, drag, inertia, rim_of_spin = law.step, law.drag, law.inertia, 1.4142 * law.radius
    for row in moving:
        vx, vy, spin = row.vx, row.vy, row.spin
        if vx or vy or spin:
            speed = total = hypot(vx, vy)
            if spin:
                rate, rim = abs(spin), rim_of_spin * spin
                total = hypot(speed, rim)
                torque, held = row.turning, total * inertia
                if held:  # else the value is below the smallest float
                    torque += row.friction * 1.4142 * law.radius * abs(rim) / held
                keep = 1 - step * (torque / rate + drag * (1 + rate))
                row.spin = spin * (keep if keep > 0 else 0.0)
            if speed:
                keep = 1 - step * (row.friction / total + drag * (1 + speed))
                if keep < 0:
                    keep = 0.0
                row.vx = vx * keep
                row.vy = vy * keep


class _Pair(Struct):
    """Two bodies by row number, the function that finds their contacts, the largest distance of centres at
    which they can touch, and whether neither is a sphere (``flat``).
    """

    i: int
    j: int
    meet: Callable[[Pose, Pose, float, float], list[Point]]
    reach: float
    flat: bool


@lru_cache(maxsize=1 << 10)
def _pairs(shapes: tuple[Shape, ...], law: Law) -> tuple[_Pair, ...]:
    """All pairs of the bodies."""
    pairs: list[_Pair] = []
    for i, j in combinations(range(len(shapes)), 2):
        wide = (shapes[i] == "cube") + (shapes[j] == "cube")
        reach = law.radius * (2 + 0.4143 * wide) + law.reach  # a cube's corner is √2 half edges away
        flat = "sphere" not in (shapes[i], shapes[j])
        pairs.append(_Pair(i, j, meeting(shapes[i], shapes[j]), reach, flat))
    return tuple(pairs)


class _Impulse:
    """A contact point in one step: its target normal velocity, and the impulse given so far."""

    __slots__ = ("a", "arm_a", "arm_b", "b", "nx", "ny", "pair", "share", "target", "total")

    def __init__(self, pair: _Pair, point: Point, a: _Row, b: _Row, law: Law) -> None:
        nx, ny, x, y, gap = point
        self.pair, self.a, self.b, self.nx, self.ny, self.total = pair, a, b, nx, ny, 0.0
        self.arm_a = (x - a.x) * ny - (y - a.y) * nx
        self.arm_b = (x - b.x) * ny - (y - b.y) * nx
        turn_a, turn_b = self.arm_a**2 * a.inverse_inertia, self.arm_b**2 * b.inverse_inertia
        self.share = 1 / (a.inverse_mass + b.inverse_mass + turn_a + turn_b)
        approach = -((b.vx - a.vx) * nx + (b.vy - a.vy) * ny + b.spin * self.arm_b - a.spin * self.arm_a)
        close = -gap / law.step * (1.0 if gap > 0 else law.correction)
        if pair.flat:
            self.target = max(close, law.restitution_flat * (approach - law.threshold_flat))
        else:
            self.target = close + (law.restitution * approach if approach > law.threshold else 0.0)

    def apply(self) -> None:
        """Bring the normal speed at which the two points separate nearer to the target."""
        a, b, nx, ny, arm_a, arm_b = self.a, self.b, self.nx, self.ny, self.arm_a, self.arm_b
        speed = (b.vx - a.vx) * nx + (b.vy - a.vy) * ny + b.spin * arm_b - a.spin * arm_a
        total = max(0.0, self.total + (self.target - speed) * self.share)
        more, self.total = total - self.total, total
        if more:
            a.vx -= more * a.inverse_mass * nx
            a.vy -= more * a.inverse_mass * ny
            a.spin -= more * a.inverse_inertia * arm_a
            b.vx += more * b.inverse_mass * nx
            b.vy += more * b.inverse_mass * ny
            b.spin += more * b.inverse_inertia * arm_b
