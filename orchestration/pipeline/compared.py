"""The asset that shows every experiment beside the pinned results, in numbers.

It is no stage: it makes no file, and what it shows depends on which experiments there are here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import dagster as dg

from orchestration.experiments.comparison import Compared, compare
from orchestration.experiments.record import Experiment, list_experiments
from orchestration.pipeline.assets import OWNERS, asset_key
from orchestration.pipeline.code_links import code_references
from orchestration.rendering.comparison import HEADS, WON, cells, numbers_line, rows_line
from orchestration.workspace.root import find_root
from substrate.base.errors import ParameterError

KEY = dg.AssetKey(["experiments", "compared"])
LISTED = 20
"""The most numbers of an experiment in the table."""


@dg.asset(
    key=KEY,
    deps=[asset_key("tables/numbers")],
    group_name="experiments",
    kinds={"experiments"},
    metadata=code_references([compare]),
    owners=OWNERS,
    description="Every experiment beside the pinned results: the numbers that differ, McNemar's p, how many "
    "answers changed. Made anew on request, since experiments come and go.",
)
def compared() -> dg.MaterializeResult[Any]:
    """Compare every experiment of the project with the pinned results."""
    return dg.MaterializeResult(metadata=shown(find_root()))


def shown(root: Path) -> dict[str, Any]:
    """The metadata of the asset; an experiment that cannot be compared says why."""
    experiments = list_experiments(root)
    if not experiments:
        return {"dagster/row_count": 0, "experiments": "there is none: a run with other parameters makes one"}
    summaries: list[dict[str, str]] = []
    numbers: list[dict[str, str]] = []
    for experiment in experiments:
        try:
            found = compare(root, experiment.name)
        except ParameterError as error:
            summaries.append(_summary(experiment, str(error), ""))
            continue
        summaries.append(_summary(experiment, numbers_line(found), rows_line(found)))
        numbers += _differing(found)
    shown = {"dagster/row_count": len(experiments), "experiments": _table(summaries)}
    if numbers:
        shown |= {"numbers that differ": _table(numbers), "won and lost": WON}
    return shown | {"more": "`substrate experiment diff NAME [--html FILE]` names each answer that changed"}


def _summary(experiment: Experiment, numbers: str, answers: str) -> dict[str, str]:
    return {
        "experiment": experiment.name,
        "changes": ", ".join(experiment.changes),
        "numbers": numbers,
        "answers": answers,
        "profile": experiment.parent.profile,
    }


def _differing(found: Compared) -> Iterator[dict[str, str]]:
    changed = [number for number in found.numbers if not number.same]
    for number in changed[:LISTED]:
        yield {"experiment": found.name, **dict(zip(HEADS, cells(number), strict=True))}
    if len(changed) > LISTED:
        more = f"and {len(changed) - LISTED} more"
        yield {"experiment": found.name, **dict.fromkeys(HEADS, ""), HEADS[0]: more}


def _table(rows: Sequence[dict[str, str]]) -> dg.TableMetadataValue:
    columns = [dg.TableColumn(name) for name in rows[0]]
    return dg.MetadataValue.table([dg.TableRecord(row) for row in rows], dg.TableSchema(columns))
