"""The asset of experiments, where there is none and where one cannot be compared; the browser sees one that
can.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import dagster as dg

from orchestration.experiments.record import Changed, Experiment, Parent
from orchestration.pipeline.compared import compared
from substrate.base.files import write_json


def materialized() -> dict[str, dg.MetadataValue]:
    result = dg.materialize([compared], selection=dg.AssetSelection.assets(compared.key))
    assert result.success
    (event,) = result.asset_materializations_for_node("experiments__compared")
    return dict(event.metadata)


def test_where_there_is_no_experiment_the_asset_says_how_one_is_made(
    make_project: Callable[..., Path],
) -> None:
    make_project()
    metadata = materialized()
    assert metadata["dagster/row_count"].value == 0
    assert "a run with other parameters makes one" in str(metadata["experiments"].value)


def test_an_experiment_that_cannot_be_compared_says_why(make_project: Callable[..., Path]) -> None:
    root = make_project()
    folder = root / "experiments/tau"
    folder.mkdir(parents=True)
    changed = {"clevrer.predictive.tau": Changed(None, 0.4)}
    record = Experiment("tau", Parent("sample", None, "", None), ["clevrer.predictive.tau=0.4"], changed, {})
    write_json(folder / "experiment.json", record, indent=1)
    table = materialized()["experiments"]
    assert isinstance(table, dg.TableMetadataValue)
    (row,) = table.records
    assert (row.data["experiment"], row.data["changes"]) == ("tau", "clevrer.predictive.tau: null -> 0.4")
    assert "no results are there" in str(row.data["numbers"])
