"""A comparison of two sets of results: the numbers, whether chance explains them, and the rows behind them.

Each set is an experiment, the pinned results, or the working tree. The working tree is included so that
experiments of DVC, which compute there, can be compared too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from orchestration.drift.causes import Cause, causes, with_code
from orchestration.drift.moved_numbers import Changes, compare_results
from orchestration.experiments.experiment import open_experiment, read_experiment
from orchestration.ledger.digests import digests
from orchestration.ledger.stage_records import read_records
from orchestration.ledger.stage_results import Results, with_results
from orchestration.pins.pin_files import read_pins
from orchestration.project import PINNED, WORKSPACE, open_workspace
from orchestration.registry import BENCHMARKS
from orchestration.scoring.scores import Count, count_of
from orchestration.workspace.folders import Workspace
from substrate.base.errors import ParameterError

_FIRST = ("parameter", "input", "code", "environment", "unknown")


class Compared(Changes, frozen=True, kw_only=True):
    """Two sets of results, compared; ``name`` and ``base`` are experiments, ``workspace`` or ``pinned``."""

    name: str
    base: str
    profile: str
    causes: Sequence[Cause]


def compare(root: Path, a: str, b: str = PINNED) -> Compared:
    """Compare an experiment with another experiment or with the pinned results.

    Args:
        root: the project.
        a: an experiment, or ``workspace`` for the results in `artifacts/`.
        b: the other set; by default the pinned results.

    Raises:
        ParameterError: there is no such experiment, nothing is pinned, the two have different profiles, or
            they have no number in common.
    """
    profile = _profile(root, {"A": a, "B": b})
    after, before = _results(root, a, profile, "A"), _results(root, b, profile, "B")
    if b == PINNED:
        before = with_code(root, profile, before, after)
    both = compare_results(before, after)
    if not both.measured:
        hint = "Compute the same benchmark in both: `substrate reproduce --only BENCHMARK`"
        raise ParameterError(f"{a} and {b} have no number in common", where=("A", a, "B", b), hint=hint)
    about = {"name": a, "base": b, "profile": profile, "causes": _causes(before, after)}
    return Compared(**about, **msgspec.structs.asdict(both))


def _causes(before: Results, after: Results) -> list[Cause]:
    """The causes of differences, then the parameters that differ without effect."""
    active = causes(before, after)
    named = {cause.what for cause in active}
    others = causes(before, after, differ=False)
    idle = [cause for cause in others if cause.kind == "parameter" and cause.what not in named]
    return sorted([*active, *idle], key=lambda cause: _FIRST.index(cause.kind))


def counts_of(root: Path, name: str) -> dict[str, Count]:
    """The numbers of an experiment, in the order of the tables; raises errors as :func:`compare`."""
    scores = {}
    for pinned in _results(root, name, _profile(root, {"NAME": name}), "NAME").values():
        scores |= pinned.scores
    ordered = (number for benchmark in BENCHMARKS.values() for number in benchmark.numbers)
    return {number: count_of(*scores[number]) for number in ordered if number in scores and scores[number][1]}


def results_of(workspace: Workspace) -> Results:
    """The numbers and rows of a workspace, with the records of the stages that made them."""
    results = Results()
    for name, record in sorted(read_records(workspace).items()):
        paths = {out: workspace.path(out) for out in record.outs}
        # What was checked out since the run is what counts, not what the run made.
        there = {out: path for out, path in paths.items() if path.exists() and not out.startswith("data/")}
        now = record.outs | digests(there)
        results[name] = with_results(msgspec.structs.replace(record, outs=now), there)
    return results


def _profile(root: Path, names: Mapping[str, str]) -> str:
    """The profile of the named experiments; if no name is an experiment, the profile of `params.yaml`."""
    named = {name: argument for argument, name in names.items() if name not in (PINNED, WORKSPACE)}
    own = {name: read_experiment(root, name, argument).parent.profile for name, argument in named.items()}
    if len(set(own.values())) > 1:
        told = " and ".join(f"{name} of profile {profile}" for name, profile in own.items())
        raise ParameterError(f"cannot compare {told}", where=("A", "B"), hint="Name two of the same profile")
    return next(iter(own.values())) if own else open_workspace().settings.profile


def _results(root: Path, name: str, profile: str, argument: str) -> Results:
    if name == PINNED:
        results, place = read_pins(root, profile), root / "pins" / profile
        hint = "`substrate reproduce` of the default profile pins"
    else:
        here = name == WORKSPACE
        workspace = open_workspace(profile) if here else open_experiment(root, name)
        results, place = results_of(workspace), workspace.artifacts
        hint = "`substrate reproduce` makes them" if here else "Make it again"
    if not results:
        raise ParameterError(f"{name} has no results", where=(argument, place), hint=hint)
    return results
