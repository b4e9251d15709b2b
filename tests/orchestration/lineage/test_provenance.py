"""Provenance in others' terms: PROV-O that SPARQL can walk, and an RO-Crate that keeps to its profiles."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from rocrate.rocrate import ROCrate

from orchestration.pipeline.graph import STAGES
from orchestration.pipeline.resources import WorkspaceResource
from orchestration.pipeline.run import run_stages
from orchestration.registry import BENCHMARKS

MEASURED = {name: benchmark.numbers for name, benchmark in BENCHMARKS.items() if f"{name}/scores" in STAGES}
PREFIXES = (
    "PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX schema: <https://schema.org/> PREFIX rdfs: "
    "<http://www.w3.org/2000/01/rdf-schema#> "
)


def ask(path: Path, query: str) -> list[list[str]]:
    store = ox.Store()
    store.load(path=str(path))
    solutions: Any = store.query(PREFIXES + query)
    return [[term.value for term in solution] for solution in solutions]


def test_every_number_derives_from_its_input_by_stages_with_code_and_parameters(reproduced: Path) -> None:
    path = reproduced / "artifacts/sample/provenance/prov.ttl"
    derived = ask(
        path,
        "SELECT DISTINCT ?name ?input WHERE { ?number <urn:substrate:n> ?n ; rdfs:label ?name ; "
        "prov:wasDerivedFrom+ ?file . ?file rdfs:label ?input }",
    )
    for benchmark, numbers in MEASURED.items():
        data = {"ablations": "clevrer", "comphy_inferred": "comphy"}.get(benchmark, benchmark)
        assert {(name, f"data/sample/{data}") for name in numbers} <= {
            (name, input_) for name, input_ in derived
        }
    runs = ask(
        path,
        """SELECT DISTINCT ?code ?parameter ?value WHERE {
            ?file rdfs:label "artifacts/sample/clevrer/answers.jsonl" ; prov:wasGeneratedBy ?run .
            ?run prov:qualifiedAssociation/prov:hadPlan/prov:hadMember/rdfs:label ?code ; prov:used ?used .
            ?used rdfs:label ?parameter ; prov:value ?value }""",
    )
    assert "substrate/domains/clevrer/interpreter.py" in {code for code, _, _ in runs}
    assert ("clevrer.predictive.configuration", '"C"') in {(parameter, value) for _, parameter, value in runs}
    cited = ask(
        path, 'SELECT ?source WHERE { ?cell prov:value "88.1 %" ; prov:hadPrimarySource/rdfs:label ?source }'
    )
    assert cited[0][0].startswith("Yi et al.")
    worlds = ask(
        path,
        'SELECT ?world WHERE { ?data rdfs:label "data/sample/comphy" ; prov:hadPrimarySource ?world } '
        "ORDER BY ?world",
    )
    assert worlds == [["urn:substrate:world:clevrer"], ["urn:substrate:world:comphy"]]


@pytest.fixture
def crate(reproduced: Path) -> Any:
    return ROCrate(reproduced / "artifacts/sample/provenance/crate")


def ids(value: Any) -> set[str]:
    return {item.id for item in (value if isinstance(value, list) else [value])}


def test_the_crate_keeps_to_the_profiles_it_names(crate: Any) -> None:
    root, workflow = crate.root_dataset, crate.mainEntity
    runs = {f"https://w3id.org/ro/wfrun/{profile}/0.5" for profile in ("process", "workflow", "provenance")}
    assert ids(root["conformsTo"]) == runs | {"https://w3id.org/workflowhub/workflow-ro-crate/1.0"}
    assert all(profile.type == "CreativeWork" and profile["version"] for profile in root["conformsTo"])
    # Root data entity of RO-Crate 1.1.
    assert root["name"]
    assert root["description"]
    assert root["license"].id.startswith("https://spdx.org/licenses/")
    assert len(root["datePublished"]) == len("2026-11-21")
    # Workflow RO-Crate: the main entity.
    assert set(workflow.type) >= {"File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"}
    assert workflow["programmingLanguage"].type == "ComputerLanguage"
    assert workflow.id in ids(root["hasPart"])
    # Workflow Run Crate: an action that ran it, with what went in and came out.
    actions = {action.id: action for action in crate.get_by_type("CreateAction")}
    (whole,) = [action for action in actions.values() if action["instrument"] == workflow]
    assert set(actions) <= ids(root["mentions"])
    assert all(
        value.type == "PropertyValue" and value["exampleOfWork"] in workflow["input"]
        for value in whole["object"]
    )
    assert all(
        parameter.type == "FormalParameter" and parameter["additionalType"] for parameter in workflow["input"]
    )
    assert "tables/clevrer.md" in ids(whole["result"])
    # Provenance Run Crate: a tool, a step, an execution and a control for each stage, and the engine.
    tools = {tool.id for tool in workflow["hasPart"]}
    assert all(step.type == "HowToStep" and step["workExample"].id in tools for step in workflow["step"])
    steps = [action for action in actions.values() if action is not whole]
    assert (
        {action["instrument"].id for action in steps}
        == tools
        == {f"#stage/{name}" for name in STAGES if not name.startswith("provenance/")} & tools
    )
    assert all(
        action["instrument"].type == "SoftwareApplication"
        and action["instrument"]["softwareVersion"]
        and action["result"]
        for action in steps
    )
    controls = crate.get_by_type("ControlAction")
    assert {control["object"].id for control in controls} == {action.id for action in steps}
    assert ids([control["instrument"] for control in controls]) == ids(workflow["step"])
    (organized,) = crate.get_by_type("OrganizeAction")
    assert organized["result"] == whole
    assert ids(organized["object"]) == ids(controls)


def test_what_one_action_makes_another_takes_and_the_hashes_are_those_of_the_files(
    crate: Any, reproduced: Path
) -> None:
    made = {
        entity.id
        for action in crate.get_by_type("CreateAction")
        if action.id != "#run"
        for entity in action["result"]
    }
    actions = [
        action for action in crate.get_by_type("CreateAction") if action.id != "#run" and action["object"]
    ]
    taken = {entity.id for action in actions for entity in action["object"] if entity.type != "PropertyValue"}
    assert taken <= made
    inside = [entity for entity in crate.get_by_type("File") if not entity.id.startswith("arcp:")]
    assert {entity["alternateName"] for entity in inside} >= {
        "artifacts/sample/tables/clevrer.md",
        "artifacts/sample/scores/babi.mean.accuracy.json",
        "artifacts/sample/provenance/prov.ttl",
    }
    for entity in inside:
        data = (reproduced / "artifacts/sample/provenance/crate" / entity.id).read_bytes()
        assert hashlib.sha256(data).hexdigest() == entity["sha256"]
        assert data == (reproduced / entity["alternateName"]).read_bytes()


def test_the_crate_speaks_of_every_stage_behind_a_number_and_of_no_time_or_place(
    crate: Any, reproduced: Path
) -> None:
    assert {name for name in STAGES if name.endswith("/scores") or name.startswith("tables/")} <= {
        tool.id.removeprefix("#stage/") for tool in crate.mainEntity["hasPart"]
    }
    text = (reproduced / "artifacts/sample/provenance/crate/ro-crate-metadata.json").read_text("utf-8")
    metadata = json.loads(text)
    assert not [
        entity["@id"]
        for entity in metadata["@graph"]
        if {"startTime", "endTime", "dateCreated", "dateModified", "sdDatePublished"} & set(entity)
    ]
    assert str(reproduced) not in text
    before = {
        path: path.read_bytes()
        for path in sorted((reproduced / "artifacts/sample/provenance").rglob("*"))
        if path.is_file()
    }
    run_stages(["provenance/crate"], WorkspaceResource(profile="sample", force=True))
    assert {
        path: path.read_bytes()
        for path in sorted((reproduced / "artifacts/sample/provenance").rglob("*"))
        if path.is_file()
    } == before
