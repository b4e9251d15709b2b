"""The results as a Workflow Run RO-Crate: what was computed, from what, by which code, with every parameter.

Profiles: Process, Workflow and Provenance Run Crate 0.5 on RO-Crate 1.1 (https://w3id.org/ro/wfrun). Tables,
scores, the PROV-O file and the workflow lie in the crate; data, logs and rows are named by an archive address
(``arcp``) and their hash.

A crate has a date, and a clock would change its bytes with every run. ``datePublished`` is therefore the day
on which results were first accepted (`pins/accepted.jsonl`), and actions have no times: the hash says which
run it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from rocrate.model.computerlanguage import ComputerLanguage
from rocrate.model.entity import Entity
from rocrate.rocrate import ROCrate

from orchestration.ledger.records import ROOT
from orchestration.lineage.number import Lineage, Step, Trace, step_of
from orchestration.settings import flattened
from substrate.base.files import sha256

Crate = Any
"""An ``ROCrate``; the types that the library declares do not hold."""
ARCHIVE = "arcp://name,event-graph-substrate/"
"""The place that names files that are no part of the crate."""
WORKFLOW = "orchestration/definitions.py"
_PROFILES = (
    ("https://w3id.org/ro/wfrun/process", "Process Run Crate", "0.5"),
    ("https://w3id.org/ro/wfrun/workflow", "Workflow Run Crate", "0.5"),
    ("https://w3id.org/ro/wfrun/provenance", "Provenance Run Crate", "0.5"),
    ("https://w3id.org/workflowhub/workflow-ro-crate", "Workflow RO-Crate", "1.0"),
)
_DAGSTER = "https://dagster.io/"
_CONTEXT = "https://w3id.org/ro/terms/workflow-run/context"
_INSIDE = ("/tables/", "/scores/", "/metrics/")
"""The files in the crate itself."""
_FORMATS = {
    ".md": "text/markdown",
    ".tex": "application/x-tex",
    ".html": "text/html",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".ttl": "text/turtle",
    ".py": "text/x-python",
}
_TYPES = {bool: "Boolean", int: "Integer", float: "Float", str: "Text"}


def write_crate(
    lineage: Lineage, stages: Sequence[str], ways: Sequence[Trace], prov: Path, out: Path
) -> None:
    """Write the crate of a profile's run to a folder; the same results, the same bytes.

    Args:
        stages: the stages of the run, each after those it needs.
        ways: the traces of the numbers.
        prov: the same as PROV-O, to be put in.
    """
    crate: Crate = ROCrate(version="1.1")
    crate.metadata.extra_contexts.append(_CONTEXT)
    profile = lineage.workspace.settings.profile
    _describe_root(crate, profile, len(ways))
    steps = [step_of(lineage, stage) for stage in stages]
    files = _add_files(crate, lineage, steps)
    values = _add_values(crate, steps)
    workflow = _add_workflow(crate, values)
    results = sorted({path for step in steps for path in step.outs if any(part in path for part in _INSIDE)})
    described = {
        "name": f"Reproduction on the {profile} profile",
        "description": f"substrate reproduce --profile {profile}",
        "actionStatus": "http://schema.org/CompletedActionStatus",
    }
    run = crate.add_action(workflow, "#run", [*values.values()], [files[path] for path in results], described)
    controls = [_add_step(crate, at, step, workflow, files, values) for at, step in enumerate(steps)]
    about = {"name": "Dagster", "url": _DAGSTER, "softwareVersion": version("dagster")}
    engine = _said(crate, "SoftwareApplication", _DAGSTER, **about)
    organized = {"@type": "OrganizeAction", "name": "Run of Dagster"}
    orders = crate.add_action(engine, "#organize", controls, run, organized)
    crate.root_dataset["mentions"] = [run, orders, *(crate.get(f"#run/{step.stage}") for step in steps)]
    properties = _file_properties(f"artifacts/{profile}/provenance/prov.ttl", sha256(prov))
    properties["name"] = "The way of every number to its sources, as PROV-O"
    crate.add_file(prov, "prov.ttl", properties=properties)["about"] = run
    crate.write(out)
    # The library indents by 4 and ends without a line's end.
    metadata = out / "ro-crate-metadata.json"
    text = json.dumps(json.loads(metadata.read_text("utf-8")), indent=1, ensure_ascii=False, sort_keys=True)
    metadata.write_text(f"{text}\n", "utf-8")


def _said(crate: Crate, kind: str, iri: str, **properties: Any) -> Entity:
    """An entity that is no file, added with its type and properties."""
    return crate.add_jsonld({"@id": iri, "@type": kind, **properties})


def _describe_root(crate: Crate, profile: str, numbers: int) -> None:
    root = crate.root_dataset
    root["name"] = f"Event-graph substrates as world models: results on the {profile} profile"
    root["description"] = (
        f"{numbers} numbers with the tables they stand in and the way of each to its sources. "
        "A table says in its caption whether it was computed on generated worlds or on official data."
    )
    licence = "https://spdx.org/licenses/Apache-2.0"
    root["license"] = _said(crate, "CreativeWork", licence, name="Apache License 2.0")
    del root["datePublished"]
    accepted = ROOT / "pins" / "accepted.jsonl"
    if accepted.is_file() and (lines := accepted.read_bytes().splitlines()):
        root["datePublished"] = msgspec.json.decode(lines[0])["date"]
    root["conformsTo"] = [
        _said(crate, "CreativeWork", f"{iri}/{number}", name=name, version=number)
        for iri, name, number in _PROFILES
    ]


def _add_files(crate: Crate, lineage: Lineage, steps: Sequence[Step]) -> dict[str, Entity]:
    """An entity for each path that a step made or read."""
    hashes = {path: digest for step in steps for path, digest in {**step.inputs, **step.outs}.items()}
    entities: dict[str, Entity] = {}
    for path, digest in sorted(hashes.items()):
        there, properties = lineage.workspace.path(path), _file_properties(path, digest)
        if there.is_dir():
            entities[path] = crate.add_dataset(ARCHIVE + path, properties=properties)
        elif any(part in path for part in _INSIDE):
            entities[path] = crate.add_file(there, f"{there.parent.name}/{there.name}", properties=properties)
        else:
            entities[path] = crate.add_file(ARCHIVE + path, properties=properties)
    return entities


def _file_properties(path: str, digest: str) -> dict[str, str]:
    """A file's or folder's description: its path in the project, its hash, its format by its suffix."""
    properties = {"name": path, "alternateName": path, "sha256": digest.removeprefix("sha256:")}
    kind = _FORMATS.get(Path(path).suffix)
    return properties | ({"encodingFormat": kind} if kind else {})


def _add_values(crate: Crate, steps: Sequence[Step]) -> dict[str, Entity]:
    """An entity for each parameter's value, with the parameter it is a value of."""
    parameters = {key: value for step in steps for key, value in flattened(step.parameters).items()}
    entities: dict[str, Entity] = {}
    for key, value in sorted(parameters.items()):
        kind = _TYPES.get(type(value), "PropertyValue")
        example = crate.add_formal_parameter(key, kind, f"#parameter/{key}", valueRequired=True)
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        properties = {"name": key, "value": text, "exampleOfWork": {"@id": example.id}}
        entities[key] = _said(crate, "PropertyValue", f"#value/{key}", **properties)
    return entities


def _add_workflow(crate: Crate, values: Mapping[str, Entity]) -> Entity:
    """The asset graph, which Dagster runs."""
    dagster = {"name": "Dagster", "url": {"@id": _DAGSTER}, "version": version("dagster")}
    language = crate.add(ComputerLanguage(crate, "#dagster", properties=dagster))
    properties = {
        **_file_properties(WORKFLOW, sha256(ROOT / WORKFLOW)),
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
        "name": "The reproduction as a graph of assets",
    }
    workflow = crate.add_workflow(ROOT / WORKFLOW, WORKFLOW, main=True, lang=language, properties=properties)
    workflow["input"] = [crate.get(f"#parameter/{key}") for key in values]
    return workflow


def _add_step(
    crate: Crate,
    position: int,
    step: Step,
    workflow: Entity,
    files: Mapping[str, Entity],
    values: Mapping[str, Entity],
) -> Entity:
    """A stage: its code as a tool, its place in the workflow, its execution, and last who started it."""
    name, code = step.stage, f"Code: {', '.join(step.code)}"
    about = {"name": name, "softwareVersion": step.code_version, "description": code}
    tool = _said(crate, "SoftwareApplication", f"#stage/{name}", **about)
    at = {"position": str(position), "workExample": {"@id": tool.id}}
    place = _said(crate, "HowToStep", f"#step/{name}", **at)
    workflow.append_to("hasPart", tool)
    workflow.append_to("step", place)
    taken = [files[path] for path in step.inputs] + [values[key] for key in flattened(step.parameters)]
    properties = {"name": f"Run of {name}", "description": f"substrate materialize {name}"}
    action = crate.add_action(tool, f"#run/{name}", taken, [files[path] for path in step.outs], properties)
    properties = {"@type": "ControlAction", "name": f"Orchestrate {name}"}
    return crate.add_action(place, f"#control/{name}", action, properties=properties)
