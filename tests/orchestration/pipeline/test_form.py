"""The launch form: what it offers is what can be set, and what is wrong is refused before there is a run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from dagster._utils.error import serializable_error_info_from_exc_info

from orchestration.definitions import build_definitions, defs
from orchestration.pipeline.form import FormError, form_of
from orchestration.pipeline.jobs import profile_config
from orchestration.settings import read_parameters

PARAMETERS = Path(__file__).resolve().parents[3] / "params.yaml"


JOB = defs.resolve_job_def("reproduce_sample")


def told(form: dict[str, Any], job: dg.JobDefinition = JOB) -> dict[str, Any]:
    """The configuration that a form gives a run, as the server finds it out before it makes the run."""
    config = {"resources": {"workspace": {"config": form}}}
    return dg.validate_run_config(job, config)["resources"]["workspace"]["config"]


def leaves(given: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(given, dict) or not given:
        yield name, given
        return
    for key, value in given.items():
        yield from leaves(value, f"{name}.{key}".lstrip("."))


def test_the_form_offers_each_key_of_the_parameters_with_its_type_and_what_it_is() -> None:
    values = dict(leaves(read_parameters(PARAMETERS)))
    del values["profile"]
    fields = form_of(PARAMETERS)["set"].config_type.fields  # pyright: ignore[reportAttributeAccessIssue]
    assert set(fields) == set(values)
    assert all(field.description for field in fields.values())
    assert told({"set": values})["overrides"] == [], "each type takes what the file has, and sets nothing"
    for key, wrong in {"seed": "x", "clevrer.predictive.tau": "x", "storage": 1}.items():
        with pytest.raises(dg.DagsterInvalidConfigError, match=key):
            told({"set": {key: wrong}})
    assert "At least 0, at most 2,147,483,647. The seed of every generated world." in str(
        fields["seed"].description
    )
    assert "baselines.twin_direct.n" in fields
    assert "Specifications or questions" in str(fields["baselines.twin_direct.n"].description)


def test_what_stands_in_a_form_is_what_a_run_is_told() -> None:
    nothing = {"profile": "", "overrides": [], "force": False, "experiment": "", "scratch": ""}
    assert told({}) == nothing
    given = {"profile": "full", "overrides": ["seed=3"], "force": True}
    assert told(given) == nothing | given
    assert told({"seed": 3, "experiment": "three"})["experiment"] == "three"
    assert told({"profile": "full", "seed": 21, "scenes": 7, "configuration": "S"})["overrides"] == [
        "clevrer.predictive.configuration=S",
        "profiles.full.clevrer.scenes=7",
        "seed=21",
    ]
    set_ = {"storage": "file:///x: y", "clevrer.predictive.tau": 1e-7, "clevrer.predictive.horizon": None}
    assert told({"set": set_})["overrides"] == ["clevrer.predictive.tau=1.0e-07", "storage='file:///x: y'"]


def test_the_form_of_the_how_to_is_one() -> None:
    page = (PARAMETERS.parent / "docs/how-to-use-the-ui.md").read_text("utf-8")
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    form = yaml.safe_load(block)["resources"]["workspace"]["config"]
    assert told(form)["overrides"] == [
        "clevrer.predictive.configuration=B",
        "clevrer.predictive.horizon=100",
        "profiles.sample.clevrer.scenes=20",
    ]
    assert [field for field in form_of(PARAMETERS) if f"`{field}`" not in page] == []


def test_a_job_opens_with_a_form_that_shows_every_field_and_changes_nothing() -> None:
    form: Any = profile_config("sample")
    form = form["resources"]["workspace"]["config"]
    assert set(form) == set(form_of(PARAMETERS)) - {"overrides"}
    assert told(form) == told({"profile": "sample"})


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"profile": "nope"}, "sample | full | paper | local"),
        ({"configuration": "D"}, "A | B | C | S"),
        ({"set": {"bad.key": 1}}, "bad.key"),
        ({"overrides": {"bad.key": 1}}, "overrides must be list"),
        ({"overrides": ["bad.key=1"]}, "cannot set 'bad.key=1'"),
        ({"overrides": ["seed=x"]}, "seed: Expected `int`"),
        ({"seed": -1}, "seed: Expected `int` >= 0"),
        ({"set": {"clevrer.predictive.tau": 0}}, "clevrer.predictive.tau: Expected `float` > 0"),
        ({"configuration": "S", "set": {"clevrer.predictive.tau": 0.4}}, "S reads neither frames nor tau"),
        ({"seed": 3, "set": {"seed": 4}}, "seed: is set twice"),
        ({"profile": "paper", "scenes": 3}, "profiles.paper.clevrer.scenes: cannot be set"),
        ({"nothing": 1}, "nothing"),
        ({"experiment": "of nothing"}, "cannot be the name of an experiment"),
        ({"experiment": "nothing"}, "names an experiment that changes nothing"),
    ],
)
def test_a_form_that_is_wrong_is_refused_before_a_run(form: dict[str, Any], said: str) -> None:
    with pytest.raises(dg.DagsterInvalidConfigError) as refused:
        told(form)
    assert said.lower() in str(refused.value).lower()
    if isinstance(refused.value, FormError):
        assert refused.value.__traceback__
        raised = FormError, refused.value, refused.value.__traceback__
        shown = serializable_error_info_from_exc_info(raised)
        assert (shown.message, shown.stack) == (str(refused.value), []), "the page shows the sentence alone"


def test_the_form_of_a_benchmark_has_what_its_stages_take() -> None:
    shown: Any = {name: defs.resolve_job_def(f"reproduce_{name}").run_config for name in ("babi", "clevrer")}
    fields = {name: list(form["resources"]["workspace"]["config"]) for name, form in shown.items()}
    assert fields["babi"] == ["profile", "seed", "set", "experiment", "force"]
    assert {"scenes", "configuration"} <= set(fields["clevrer"])


def test_the_choice_of_profiles_is_what_the_file_has(make_project: Callable[..., Path]) -> None:
    path = make_project() / "params.yaml"
    parameters = yaml.safe_load(path.read_text("utf-8"))
    parameters["profiles"]["mine"] = {"clevrer": {"source": "generated", "scenes": 1}}
    del parameters["profiles"]["local"]
    parameters["profile"] = "mine"
    path.write_text(yaml.safe_dump(parameters), "utf-8")
    job = build_definitions().resolve_job_def("reproduce_clevrer")
    assert told({"profile": "mine", "scenes": 2}, job)["overrides"] == ["profiles.mine.clevrer.scenes=2"]
    with pytest.raises(dg.DagsterInvalidConfigError, match="not in enum"):
        told({"profile": "local"}, job)
