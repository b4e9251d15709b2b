"""The engine looks for contacts only where there can be any: the plain one, which looks everywhere in every
frame, gives the same bits. Its poses are spelled as Python spells each number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from math import hypot

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from substrate.domains.clevrer.deltas import spelled_poses
from substrate.domains.clevrer.format import Posed
from substrate.domains.clevrer.motion import Body, engine, simulate
from substrate.domains.clevrer.motion.law import Law


class Plain(engine._World):  # pyright: ignore[reportPrivateUsage]
    """As the engine, without looking ahead."""

    def advance(self, frame: int, end: int) -> int:
        self.quiet = 0
        return super().advance(frame, end)

    def _near(self) -> list[engine._Pair]:  # pyright: ignore[reportPrivateUsage]
        speeds = [hypot(row.vx, row.vy) for row in self.rows]
        awake = {k for k, row in enumerate(self.rows) if speeds[k] or row.spin}
        margin = max(0.1, 2 * max(speeds, default=0.0) * self.law.frame)
        close: list[engine._Pair] = []  # pyright: ignore[reportPrivateUsage]
        for pair in self.pairs:
            a, b = self.rows[pair.i], self.rows[pair.j]
            if hypot(a.x - b.x, a.y - b.y) < pair.reach + margin:
                close.append(pair)
        pushed = {k for pair in close if pair.i in awake or pair.j in awake for k in (pair.i, pair.j)}
        return [pair for pair in close if pair.i in pushed or pair.j in pushed]


def brake(moving: Iterable[tuple[engine._Row, float, float]], law: Law) -> None:  # pyright: ignore[reportPrivateUsage]
    for row, friction, turning in moving:
        vx, vy, spin = row.vx, row.vy, row.spin
        speed, rim = hypot(vx, vy), 1.4142 * law.radius * spin
        total = hypot(speed, rim)
        if speed:
            keep = max(0.0, 1 - law.step * (friction / total + law.drag * (1 + speed)))
            row.vx, row.vy = vx * keep, vy * keep
        if spin:
            held = total * law.inertia
            torque = turning + (friction * 1.4142 * law.radius * abs(rim) / held if held else 0.0)
            row.spin = spin * max(0.0, 1 - law.step * (torque / abs(spin) + law.drag * (1 + abs(spin))))


@contextmanager
def plain() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_World", Plain)
        patch.setattr(engine, "_brake", brake)
        yield


_place = st.floats(-2.5, 2.5)
_speed = st.one_of(st.just(0.0), st.floats(-3, 3))
_body = st.tuples(
    st.sampled_from(["cube", "sphere", "cylinder"]),
    _place,
    _place,
    _speed,
    _speed,
    st.floats(0, 1.5),
    st.one_of(st.just(0.0), st.floats(-7, 7)),
    st.floats(0.6, 1.6),
)


@settings(max_examples=120, deadline=None)
@given(st.lists(_body, min_size=1, max_size=6))
@example([("cube", 0.0, 0.0, 0.0, 0.0, 0.0, 5e-324, 1.0)])
def test_looking_ahead_changes_no_bit(
    drawn: list[tuple[str, float, float, float, float, float, float, float]],
) -> None:
    bodies: list[Body] = []
    for k, (shape, x, y, vx, vy, yaw, spin, mass) in enumerate(drawn):
        turning = (yaw, spin) if shape == "cube" else (0.0, 0.0)
        bodies.append(Body(k, shape, x, y, vx, vy, *turning, mass))  # pyright: ignore[reportArgumentType]
    fast = simulate(bodies, 128, trace=True)
    with plain():
        assert simulate(bodies, 128, trace=True) == fast
    several_frames_at_once = simulate(bodies, 128)
    assert (several_frames_at_once.contacts, several_frames_at_once.final) == (fast.contacts, fast.final)


NUMBERS = st.floats() | st.floats(-1e-3, 1e-3) | st.sampled_from((-0.0, 1e-4, 9.9e-5, 1e15, 1e16, 1e22))


@given(st.lists(st.tuples(st.integers(0, 10**6), *[NUMBERS] * 6)))
def test_poses_are_spelled_as_python_spells_each_number(poses: list[Posed]) -> None:
    assert spelled_poses(poses) == [" ".join(map(repr, pose)) for pose in poses]
