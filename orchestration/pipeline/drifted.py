"""Reports of checks on results or data that are not what was pinned: the difference, its cause, its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import dagster as dg

from orchestration.ledger.drift import Cause, Difference, causes, differences, explained
from orchestration.ledger.moved import Moved, moved
from orchestration.ledger.pinned import measure, read_pins
from orchestration.pipeline.result_stages import REPORT
from orchestration.rendering.drift import moved_lines
from orchestration.rendering.page import answers_page
from orchestration.stage import Stage, Stages, needed
from orchestration.workspace.folders import Workspace

LISTED = 20
"""The most differences in a check's table; the check counts all of them."""
_NOUNS = {"input": "file"}


class Drift(NamedTuple):
    """The differences of a stage from its pin, and of all that it was made from."""

    differences: Sequence[Difference]
    causes: Sequence[Cause]
    moved: Moved = Moved()

    @property
    def counted(self) -> dict[str, int]:
        """The number of things of each kind that differ, by the kind's name: 3 of row, 1 of score."""
        return dict(Counter(_NOUNS.get(one.kind, one.kind) for one in self.differences))

    def __str__(self) -> str:
        if not self.differences:
            return ""
        first, *others = self.differences
        counted = " and ".join(
            f"{number:,} {kind}{'' if number == 1 else 's'}" for kind, number in self.counted.items()
        )
        more = f", and {len(others):,} more" if others else ""
        because = f"; because {'; '.join(map(str, self.causes))}" if self.causes else ""
        verb = "differ" if others else "differs"
        return f"{counted} {verb}: {first.what}: {first.old} -> {first.new}{more}{because}"


def find_drift(workspace: Workspace, stages: Stages, stage: Stage) -> Drift:
    """Hold a stage against its pin, and all that stands before it, since that may be the cause.

    Nothing is found of a stage whose rows and numbers are not pinned, but only its hash.
    """
    pinned = read_pins(workspace.root, workspace.settings.profile)
    if stage.name not in pinned:
        return Drift((), ())
    way = [stages[name] for name in needed(stages, [stage.name])]
    now = measure(workspace, stages, way, known=pinned)
    found = differences({stage.name: pinned[stage.name]}, now)
    because = causes(explained(workspace.root, workspace.settings.profile, pinned, now), now)
    return Drift(found, because, moved(pinned, now))


def shown(drift: Drift, paths: Sequence[str], workspace: Workspace, stage: Stage) -> dict[str, Any]:
    """The metadata of a check: how many differ, which of them with what they were, why, and where to read on.

    Args:
        paths: the stage's outs whose bytes are not what is pinned.
    """
    rows = [
        dg.TableRecord({"which": one.what, "was": one.old, "is": one.new})
        for one in drift.differences[:LISTED]
    ]
    lines = "\n".join(moved_lines(drift.moved, markdown=True))
    return {
        **({"numbers and answers": dg.MetadataValue.md(lines)} if lines else {}),
        **{f"{kind}s": number for kind, number in drift.counted.items()},
        "files that differ": "\n".join(paths),
        **({"differences": dg.MetadataValue.table(rows)} if rows else {}),
        "because": "\n".join(map(str, drift.causes)) or "not known",
        "report": dg.MetadataValue.asset(dg.AssetKey(["report", "html"])),
        "place in the report": dg.MetadataValue.path(_place(workspace, stage)),
    }


def _place(workspace: Workspace, stage: Stage) -> str:
    """The place of a stage's results in the report, within the project: a table, all numbers, or the answers
    of a benchmark.
    """
    room, _, name = stage.name.partition("/")
    page, anchor = "index.html", "#answers"
    if room == "tables":
        anchor = "#forest" if name == "numbers" else f"#table-{name}"
    elif (workspace.path(REPORT) / answers_page(room)).is_file():
        page, anchor = answers_page(room), ""
    return f"{REPORT.format(profile=workspace.settings.profile)}/{page}{anchor}"
