"""The launch form: it offers the keys that can be set, and a wrong value is refused before there is a run."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml
from commands import python

from orchestration.dagster.form import FormError, form_of, judged
from orchestration.definitions import build_definitions, defs
from orchestration.settings import read_parameters

PARAMETERS = Path(__file__).resolve().parents[3] / "params.yaml"


JOB = defs.resolve_job_def("reproduce_sample")


def configured(form: dict[str, Any], job: dg.JobDefinition = JOB) -> dict[str, Any]:
    """The configuration that a form gives a run, as the server validates it before it makes the run."""
    config = {"resources": {"workspace": {"config": form}}}
    return dg.validate_run_config(job, config)["resources"]["workspace"]["config"]


def leaves(given: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if not isinstance(given, dict) or not given:
        yield name, given
        return
    for key, value in given.items():
        yield from leaves(value, f"{name}.{key}".lstrip("."))


def test_the_form_offers_each_key_that_is_no_text_with_type_and_description() -> None:
    values = {key: value for key, value in leaves(read_parameters(PARAMETERS)) if key != "profile"}
    fields = form_of(PARAMETERS)["set"].config_type.fields  # pyright: ignore[reportAttributeAccessIssue]
    assert fields.keys() <= values.keys()
    words = {key: values[key] for key in fields if isinstance(values[key], str)}
    types = [getattr(fields[key].config_type, "inner_type", fields[key].config_type) for key in words]
    assert all(isinstance(type_, dg.Enum) for type_ in types), "a word is one of a fixed list"
    assert all(field.description for field in fields.values())
    same = configured({"set": {key: values[key] for key in fields}})
    assert same["overrides"] == [], "what the file has sets nothing"
    for key, wrong in {"seed": "x", "clevrer.predictive.tau": "x"}.items():
        with pytest.raises(dg.DagsterInvalidConfigError, match=key):
            configured({"set": {key: wrong}})
    seed = "At least 0, at most 2,147,483,647. The seed of every generated world."
    assert seed in str(fields["seed"].description)
    assert "Specifications or questions" in str(fields["baselines.twin_direct.n"].description)


DANGEROUS = re.compile(
    r"storage|spark\.(master|config)|baselines\.(images|\w+\.(model|revision|answers_as))"
    r"|profiles\.\w+\.\w+\.(mirror|annotations|events|proposals|questions|tasks|scene_graphs)"
)
# `DANGEROUS` matches these keys too, but their values are numbers.
NUMBERS = {f"profiles.{profile}.babi.questions" for profile in ("sample", "beyond", "full")}


def test_a_run_of_the_ui_can_set_no_program_path_address_or_option_of_a_process() -> None:
    keys = [key for key, _ in leaves(read_parameters(PARAMETERS)) if DANGEROUS.fullmatch(key)]
    assert len(set(keys) - NUMBERS) > 40
    for key in {*keys, "spark.config.spark.driver.extraJavaOptions"} - NUMBERS:
        for config in ({"set": {key: "x"}}, {"overrides": [f"{key}=x"]}):
            with pytest.raises(dg.DagsterInvalidConfigError, match="Received unexpected config entr"):
                configured(config)
        with pytest.raises(FormError, match="cannot be set here"):  # when the run reads its configuration
            judged({"set": {key: "x"}, "force": False})


def texts(schema: Any, name: str) -> Iterator[str]:
    """The entries of a run's configuration that take any text, or anything."""
    for key, field in (getattr(schema, "fields", None) or {}).items():
        yield from texts(field.config_type, f"{name}{key}.")
    if inner := getattr(schema, "inner_type", None):
        yield from texts(inner, name)
    elif schema.kind.name.startswith(("SCALAR", "ANY")) and schema.given_name not in ("Int", "Float", "Bool"):
        yield re.sub(r"^ops\.\w+", "ops.STEP", name).rstrip(".")


def test_no_other_part_of_a_run_s_configuration_takes_a_text_that_is_used() -> None:
    script = (
        "from test_form import *\n"
        "jobs = [defs.resolve_job_def(job.name) for job in defs.jobs]\n"
        "print(sorted({t for j in jobs for t in texts(j.run_config_schema.run_config_schema_type, '')}))"
    )
    path = f"{Path(__file__).parent}:{PARAMETERS.parent}/tests/support"
    done = python("-c", script, cwd=PARAMETERS.parent, PYTHONPATH=path)
    # No step has settings of its own, and the name of an experiment is checked.
    logger = [f"loggers.console.config.{key}" for key in ("log_level", "name")]
    named = "resources.workspace.config.experiment"
    assert ast.literal_eval(done.stdout) == [*logger, "ops.STEP.config", named]


def test_the_entries_of_a_form_become_the_settings_of_a_run() -> None:
    empty = dict.fromkeys(("profile", "experiment", "scratch"), "")
    nothing = {**empty, "overrides": [], "force": False, "settles": True}
    assert configured({}) == nothing
    given = {"profile": "full", "force": True}
    assert configured(given | {"set": {"seed": 3}}) == nothing | given | {"overrides": ["seed=3"]}
    assert configured({"set": {"seed": 3}, "experiment": "three"})["experiment"] == "three"
    several = {"seed": 21, "profiles.full.clevrer.scenes": 7, "clevrer.predictive.configuration": "S"}
    assert configured({"profile": "full", "set": several})["overrides"] == [
        "clevrer.predictive.configuration=S",
        "profiles.full.clevrer.scenes=7",
        "seed=21",
    ]
    set_ = {"clevrer.predictive.tau": 1e-7, "clevrer.predictive.horizon": None}
    assert configured({"set": set_})["overrides"] == ["clevrer.predictive.tau=1e-7"]


def test_the_form_of_the_how_to_is_accepted() -> None:
    page = (PARAMETERS.parent / "docs/how-to-use-the-ui.md").read_text("utf-8")
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    form = yaml.safe_load(block)["resources"]["workspace"]["config"]
    assert configured(form)["overrides"] == [
        "clevrer.predictive.configuration=B",
        "clevrer.predictive.horizon=100",
        "profiles.sample.clevrer.scenes=20",
    ]
    assert [field for field in form_of(PARAMETERS) if f"`{field}`" not in page] == []


def test_a_job_opens_with_a_form_that_shows_every_field_and_changes_nothing() -> None:
    form: Any = JOB.run_config
    form = form["resources"]["workspace"]["config"]
    assert set(form) == set(form_of(PARAMETERS))
    assert configured(form) == configured({"profile": "sample"})


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"profile": "nope"}, "sample | beyond | full | paper | real | local"),
        ({"set": {"clevrer.predictive.configuration": "D"}}, "A | B | C | S"),
        ({"set": {"bad.key": 1}}, "bad.key"),
        ({"set": {"seed": -1}}, "seed: Expected `int` >= 0, not -1"),
        ({"set": {"clevrer.predictive.tau": 0}}, "clevrer.predictive.tau: Expected `float` > 0"),
        (
            {"set": {"clevrer.predictive.configuration": "S", "clevrer.predictive.tau": 0.4}},
            "S reads neither frames nor tau",
        ),
        ({"nothing": 1}, "nothing"),
        ({"experiment": "of nothing"}, "experiment: 'of nothing' cannot be the name of an experiment"),
        ({"experiment": "nothing"}, "names an experiment that changes nothing"),
    ],
)
def test_a_form_that_is_wrong_is_refused_before_a_run(form: dict[str, Any], message: str) -> None:
    with pytest.raises(dg.DagsterInvalidConfigError) as refused:
        configured(form)
    assert message.lower() in str(refused.value).lower()


def test_the_form_offers_the_profiles_of_the_file(make_project: Callable[..., Path]) -> None:
    path = make_project() / "params.yaml"
    parameters = yaml.safe_load(path.read_text("utf-8"))
    parameters["profiles"]["mine"] = {"clevrer": {"source": "generated", "scenes": 1}}
    del parameters["profiles"]["local"]
    parameters["profile"] = "mine"
    path.write_text(yaml.safe_dump(parameters), "utf-8")
    job = build_definitions().resolve_job_def("reproduce_clevrer")
    assert configured({"profile": "mine", "set": {"profiles.mine.clevrer.scenes": 2}}, job)["overrides"] == [
        "profiles.mine.clevrer.scenes=2"
    ]
    with pytest.raises(dg.DagsterInvalidConfigError, match="not in enum"):
        configured({"profile": "local"}, job)
