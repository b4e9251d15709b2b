"""No circle of imports: a module can be read, and loaded, after all that it imports.

Imports inside functions count, since they only hide a circle; those for type checkers do not.
"""

from __future__ import annotations

import grimp
import networkx
import pytest
from commands import python


@pytest.fixture(scope="module")
def imports() -> networkx.DiGraph:
    grimp_graph = grimp.build_graph(
        "substrate", "orchestration", "research", exclude_type_checking_imports=True, cache_dir=None
    )
    graph = networkx.DiGraph()
    for module in grimp_graph.modules:
        graph.add_node(module)
        for imported in grimp_graph.find_modules_directly_imported_by(module):
            graph.add_edge(module, imported)
    return graph


def test_no_module_imports_itself_by_way_of_others(imports: networkx.DiGraph) -> None:
    assert imports.number_of_edges() > 500
    circles = [circle for circle in networkx.strongly_connected_components(imports) if len(circle) > 1]
    assert [sorted(circle) for circle in circles] == []


def test_no_room_imports_itself_by_way_of_others(imports: networkx.DiGraph) -> None:
    rooms = networkx.DiGraph()
    for module, imported in imports.edges:
        here, there = (name.split(".")[:2] for name in (module, imported))
        if here[0] == there[0] == "orchestration" and here != there:
            rooms.add_edge(here[1], there[1])
    assert list(networkx.simple_cycles(rooms)) == []


def test_the_order_of_imports_changes_no_stage() -> None:
    """The benchmarks, stages and settings are values: which module is loaded first does not matter."""
    from orchestration.stages.graph import STAGES

    orders = (
        ("orchestration.cli.main", "orchestration.rendering.report.report", "orchestration.definitions"),
        ("orchestration.dagster.jobs", "orchestration.registry", "research.exporters.prov"),
    )
    program = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]: importlib.import_module(name)\n"
        "from orchestration.stages.graph import STAGES\n"
        "print([(name, stage.outs, stage.needs) for name, stage in STAGES.items()])"
    )
    loaded_here = [(name, stage.outs, stage.needs) for name, stage in STAGES.items()]
    for order in orders:
        assert python("-c", program, *order).stdout.splitlines()[-1] == str(loaded_here), order


@pytest.mark.parametrize(
    ("room", "last_names", "core"),
    [
        # Truth that is computed by the code under test proves nothing.
        (
            "substrate.generators",
            {"checks", "format", "grammar", "questions"},
            {
                f"base.{name}"
                for name in ("errors", "extras", "files", "inputs", "limits", "numbered", "records")
            },
        ),
        ("substrate.baselines", {"checks", "format", "grammar", "questions", "film", "deltas", "rows"}, None),
    ],
)
def test_a_world_shares_the_format_alone_and_a_baseline_the_log_too(
    room: str, last_names: set[str], core: set[str] | None, imports: networkx.DiGraph
) -> None:
    inside = {module for module in imports if module.startswith(room)}
    reached = {below for module in inside for below in networkx.descendants(imports, module)} - inside
    of_domains = {module for module in reached if module.startswith("substrate.domains.")}
    assert len(of_domains) > 2
    assert {module for module in of_domains if module.rpartition(".")[2] not in last_names} == set()
    if core is not None:
        assert {module.partition(".")[2] for module in reached - of_domains} <= core


def test_two_names_that_other_programs_import_keep_their_places() -> None:
    from orchestration.dagster.instance import instance
    from orchestration.pipeline import run
    from orchestration.settings import find_root
    from orchestration.workspace import root

    assert (run.instance, root.find_root) == (instance, find_root)
