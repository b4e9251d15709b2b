"""The results as a Workflow Run RO-Crate: what was computed, from what, by which code, with every parameter.

Profiles: Process, Workflow and Provenance Run Crate 0.5 on RO-Crate 1.1 (https://w3id.org/ro/wfrun). Tables,
scores, the
PROV-O file and the workflow lie in the crate; data, logs and rows are named by an archive address (``arcp``)
and their hash.

A crate has a date, and a clock would change its bytes with every run. ``datePublished`` is therefore the day
on which results
were first accepted (`pins/accepted.jsonl`), and actions have no times: the hash says which run it was.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
from rocrate.model.computerlanguage import ComputerLanguage
from rocrate.model.contextentity import ContextEntity
from rocrate.model.entity import Entity
from rocrate.model.softwareapplication import SoftwareApplication
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
    _describe_root(crate, lineage, ways)
    steps = [step_of(lineage, stage) for stage in stages]
    files = _add_files(crate, lineage, steps)
    values = _add_values(crate, steps)
    workflow = _add_workflow(crate, values)
    run = _add_run(crate, lineage, steps, workflow, files, values)
    _add_steps(crate, steps, workflow, run, files, values)
    kept = f"artifacts/{lineage.workspace.settings.profile}/provenance/prov.ttl"
    name = "The way of every number to its sources, as PROV-O"
    properties = _file_properties(kept, sha256(prov)) | {"name": name}
    described = crate.add_file(prov, "prov.ttl", properties=properties)
    described["about"] = run
    crate.write(out)
    # The library indents by 4 and ends without a line's end.
    metadata = out / "ro-crate-metadata.json"
    text = json.dumps(json.loads(metadata.read_text("utf-8")), indent=1, ensure_ascii=False, sort_keys=True)
    metadata.write_text(f"{text}\n", "utf-8")


def _said(crate: Crate, kind: type[ContextEntity], iri: str, **properties: Any) -> Entity:
    """An entity that is no file, added with its properties; ``type_`` stands for ``@type``."""
    type_ = properties.pop("type_", None)
    return crate.add(kind(crate, iri, properties=({"@type": type_} if type_ else {}) | properties))


def first_accepted() -> str | None:
    """The day on which results were first accepted into the checkout the code runs from."""
    path = ROOT / "pins" / "accepted.jsonl"
    lines = path.read_bytes().splitlines() if path.is_file() else []
    return msgspec.json.decode(lines[0])["date"] if lines else None


def _describe_root(crate: Crate, lineage: Lineage, ways: Sequence[Trace]) -> None:
    settings = lineage.workspace.settings
    root = crate.root_dataset
    root["name"] = f"Event-graph substrates as world models: results on the {settings.profile} profile"
    root["description"] = (
        f"{len(ways)} numbers with the tables they stand in and the way of each to its sources. "
        "A table says in its caption whether it was computed on generated worlds or on official data."
    )
    licence = "https://spdx.org/licenses/Apache-2.0"
    root["license"] = _said(crate, ContextEntity, licence, type_="CreativeWork", name="Apache License 2.0")
    del root["datePublished"]
    if date := first_accepted():
        root["datePublished"] = date
    root["conformsTo"] = [
        _said(crate, ContextEntity, f"{iri}/{number}", type_="CreativeWork", name=name, version=number)
        for iri, name, number in _PROFILES
    ]


def _add_files(crate: Crate, lineage: Lineage, steps: Sequence[Step]) -> dict[str, Entity]:
    """An entity for each path that a step made or read."""
    hashes = {path: digest for step in steps for path, digest in {**step.inputs, **step.outs}.items()}
    found: dict[str, Entity] = {}
    for path, digest in sorted(hashes.items()):
        there, properties = lineage.workspace.path(path), _file_properties(path, digest)
        if there.is_dir():
            found[path] = crate.add_dataset(ARCHIVE + path, properties=properties)
        elif any(part in path for part in _INSIDE):
            found[path] = crate.add_file(there, f"{there.parent.name}/{there.name}", properties=properties)
        else:
            found[path] = crate.add_file(ARCHIVE + path, properties=properties)
    return found


def _file_properties(path: str, digest: str) -> dict[str, str]:
    """A file's or folder's description: its path in the project, its hash, its format by its suffix."""
    properties = {"name": path, "alternateName": path, "sha256": digest.removeprefix("sha256:")}
    return properties | (
        {"encodingFormat": _FORMATS[Path(path).suffix]} if Path(path).suffix in _FORMATS else {}
    )


def _add_values(crate: Crate, steps: Sequence[Step]) -> dict[str, Entity]:
    """An entity for each parameter's value, with the parameter it is a value of."""
    given = {key: value for step in steps for key, value in flattened(step.parameters).items()}
    found: dict[str, Entity] = {}
    for key, value in sorted(given.items()):
        kind, iri = _TYPES.get(type(value), "PropertyValue"), f"#parameter/{key}"
        example = {"@id": crate.add_formal_parameter(key, kind, iri, valueRequired=True).id}
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        said = {"type_": "PropertyValue", "name": key, "value": text, "exampleOfWork": example}
        found[key] = _said(crate, ContextEntity, f"#value/{key}", **said)
    return found


def _add_workflow(crate: Crate, values: Mapping[str, Entity]) -> Entity:
    """The asset graph, which Dagster runs."""
    url, number = {"@id": "https://dagster.io/"}, version("dagster")
    language = _said(crate, ComputerLanguage, "#dagster", name="Dagster", url=url, version=number)
    types = ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]
    properties = {
        **_file_properties(WORKFLOW, sha256(ROOT / WORKFLOW)),
        "@type": types,
        "name": "The reproduction as a graph of assets",
    }
    workflow = crate.add_workflow(ROOT / WORKFLOW, WORKFLOW, main=True, lang=language, properties=properties)
    workflow["input"] = [crate.get(f"#parameter/{key}") for key in values]
    return workflow


def _add_run(
    crate: Crate,
    lineage: Lineage,
    steps: Sequence[Step],
    workflow: Entity,
    files: Mapping[str, Entity],
    values: Mapping[str, Entity],
) -> Entity:
    """The run as a whole: parameters in, tables and scores out."""
    results = sorted({path for step in steps for path in step.outs if any(part in path for part in _INSIDE)})
    profile = lineage.workspace.settings.profile
    described = {
        "name": f"Reproduction on the {profile} profile",
        "description": f"substrate reproduce --profile {profile}",
        "actionStatus": "http://schema.org/CompletedActionStatus",
    }
    return crate.add_action(
        workflow, "#run", list(values.values()), [files[path] for path in results], described
    )


def _add_steps(
    crate: Crate,
    steps: Sequence[Step],
    workflow: Entity,
    run: Entity,
    files: Mapping[str, Entity],
    values: Mapping[str, Entity],
) -> None:
    """For each stage: its code as a tool, its place in the workflow, its execution, and who started it."""
    controls = []
    for position, step in enumerate(steps):
        tool = _said(
            crate,
            SoftwareApplication,
            f"#stage/{step.stage}",
            name=step.stage,
            softwareVersion=step.code_version,
            description=f"Code: {', '.join(step.code)}",
        )
        of, where = f"#step/{step.stage}", {"@id": tool.id}
        place = _said(crate, ContextEntity, of, type_="HowToStep", position=str(position), workExample=where)
        workflow.append_to("hasPart", tool)
        workflow.append_to("step", place)
        taken = [files[path] for path in step.inputs] + [values[key] for key in flattened(step.parameters)]
        made = [files[path] for path in step.outs]
        said = {"name": f"Run of {step.stage}", "description": f"substrate materialize {step.stage}"}
        action = crate.add_action(tool, f"#run/{step.stage}", taken, made, said)
        said = {"@type": "ControlAction", "name": f"Orchestrate {step.stage}"}
        controls.append(crate.add_action(place, f"#control/{step.stage}", action, properties=said))
    url, number = "https://dagster.io/", version("dagster")
    engine = _said(crate, SoftwareApplication, url, name="Dagster", url=url, softwareVersion=number)
    organized = crate.add_action(
        engine, "#organize", controls, run, {"@type": "OrganizeAction", "name": "Run of Dagster"}
    )
    crate.root_dataset["mentions"] = [run, organized, *(crate.get(f"#run/{step.stage}") for step in steps)]
