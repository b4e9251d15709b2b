"""The provenance of every number as PROV-O, which SPARQL can walk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyoxigraph as ox

from orchestration.dagster.resources import WorkspaceResource
from orchestration.dagster.run import run_stages
from orchestration.registry import BENCHMARKS
from orchestration.stages.graph import STAGES

# The numbers of each benchmark of the paper; the stages of those beyond it are not in `STAGES`.
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
        data = "clevrer" if benchmark == "ablations" else benchmark
        assert {(name, f"data/sample/{data}") for name in numbers} <= {*map(tuple, derived)}
    runs = ask(
        path,
        """SELECT DISTINCT ?code ?parameter ?value WHERE {
            ?file rdfs:label "artifacts/sample/clevrer/answers.jsonl" ; prov:wasGeneratedBy ?run .
            ?run prov:qualifiedAssociation/prov:hadPlan/prov:hadMember/rdfs:label ?code ; prov:used ?used .
            ?used rdfs:label ?parameter ; prov:value ?value }""",
    )
    assert "substrate/domains/clevrer/answers.py" in {code for code, _, _ in runs}
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


def test_it_is_written_anew_with_the_same_bytes(reproduced: Path) -> None:
    path = reproduced / "artifacts/sample/provenance/prov.ttl"
    before = path.read_bytes()
    assert str(reproduced).encode() not in before
    run_stages(["provenance/prov"], WorkspaceResource(profile="sample", force=True))
    assert path.read_bytes() == before
