"""The causes of differences between two measurements: changed code, parameters, inputs and environments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec

from orchestration.base.git import git
from orchestration.drift.as_pinned import short
from orchestration.ledger.digests import NOTHING
from orchestration.ledger.environment import LOCK
from orchestration.ledger.manifest import Made, changed
from orchestration.ledger.stage_results import Results
from orchestration.pins.paths import pin_name
from orchestration.settings import flattened

_LISTED = 5


class Cause(msgspec.Struct, frozen=True, omit_defaults=True):
    """A changed dependency of stages whose outs differ."""

    kind: Literal["code", "parameter", "input", "environment", "unknown"]
    what: str
    stages: tuple[str, ...] = ()
    old: str = ""
    new: str = ""

    def __str__(self) -> str:
        change = f" {self.old} -> {self.new}" if self.old or self.new else ""
        stages = ", ".join(self.stages[:_LISTED])
        if len(self.stages) > _LISTED:
            stages += f" and {len(self.stages) - _LISTED} more stages"
        return _CAUSES[self.kind].format(what=self.what, change=change, stages=stages)


_CAUSES = {
    "code": "code of {stages} changed: {what}",
    "parameter": "parameter {what}{change} ({stages})",
    "input": "input {what} changed ({stages})",
    "environment": "{what}{change} in the environment ({stages})",
    "unknown": "nothing that {stages} declares has changed: {what}",
}


def causes(old: Results, new: Results, *, differ: bool = True) -> list[Cause]:
    """Return the changed dependencies of stages; a cause that stages share is named once.

    Args:
        differ: true for the causes of stages whose outs differ; false for those of other stages, whose outs
            nobody has recomputed.
    """
    shared: dict[Cause, list[str]] = defaultdict(list)
    for stage in (name for name in new if name in old):
        if (old[stage].outs != new[stage].outs) == differ:
            for cause in _changes_of(old[stage], new[stage], differ):
                shared[cause].append(stage)
    return [msgspec.structs.replace(cause, stages=tuple(stages)) for cause, stages in shared.items()]


def _changes_of(was: Made, is_: Made, differ: bool) -> Iterator[Cause]:
    """Yield a stage's causes, with `stages` empty."""
    known, ran = was.code and is_.code, was.environment and is_.environment
    found = [Cause("code", file) for file in sorted(changed(was.code, is_.code)) if known]
    for key, pair in sorted(changed(_values(was), _values(is_)).items()):
        found.append(Cause("parameter", key, (), *(text or "not set" for text in pair)))
    # A changed input's own stage has its cause; a changed package version alone makes no stage stale.
    if differ:
        for what, pair in sorted(changed(was.environment, is_.environment).items()) if ran else ():
            found.append(Cause("environment", what, (), *(short(text or NOTHING) for text in pair)))
        inputs = changed(was.inputs, is_.inputs)
        found += [Cause("input", path) for path in sorted(inputs) if path.startswith("data/")]
        if not (found or inputs):
            found = [Cause("input", path) for path in is_.outs if path.startswith("data/")]
            unknown = "code that it does not declare, or a result that does not repeat"
            found = found or [Cause("unknown", unknown)]
    yield from found


def _values(made: Made) -> dict[str, str]:
    """Return the parameters as text, by dotted key."""
    return {key: msgspec.json.encode(value).decode() for key, value in flattened(made.parameters).items()}


def with_code(root: Path, profile: str, pins: Results, now: Results) -> Results:
    """Add to pins the code that made them.

    If no ledger records it, as in a clone, it is the present code, less the files that git reports changed
    since the pins' last commit.
    """
    unknown = {name: now[name] for name in pins if name in now and now[name].code and not pins[name].code}
    base = git(root, "log", "-1", "--format=%H", "--", pin_name(profile)) if unknown else None
    since = git(root, "diff", "--name-only", "-z", base.decode().strip()) if base else None
    if since is None:
        return pins
    files, pinned = set(since.decode().split("\0")), dict(pins)
    for name, made in unknown.items():
        code = {file: "" if file in files else digest for file, digest in made.code.items()}
        environment = made.environment | ({LOCK: "another"} if LOCK in files else {})
        pinned[name] = msgspec.structs.replace(pins[name], code=code, environment=environment)
    return pinned
