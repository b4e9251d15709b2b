"""`substrate reproduce`: repeat the outcome of the last run if nothing changed, else run the graph.

The module loads little, so that a command with nothing to do ends at once. :mod:`.graph_run` has the run, and
loads Dagster and the graph of stages.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack

import msgspec

from orchestration.base.yaml_text import read_yaml
from orchestration.cli.console import running
from orchestration.cli.reproduction import Reproduction, Request
from orchestration.settings import PARAMETERS_FILE, REAL, find_root
from orchestration.stages.nothing_to_do import last_outcome
from substrate.baselines.parameters import MODEL_URL, SMOLLM2
from substrate.cli.console import doing


def reproduced(asked: Request) -> Reproduction:
    """Run the stages of a profile, or report that there is nothing to do.

    If an override affects results, the run is an experiment, and the profile's results stay unchanged.
    """
    start, root = time.monotonic(), find_root()
    if not asked.overrides and not asked.force and not asked.name:
        profile = asked.profile or str(read_yaml(root / PARAMETERS_FILE).get("profile"))
        last = (kept := last_outcome(root, profile, asked.only)) and msgspec.convert(kept, Reproduction)
        if last and not last.lacking and last.real == os.environ.get(REAL, ""):
            took, report = time.monotonic() - start, last.report and str(root / last.report)
            return msgspec.structs.replace(last, ran=False, seconds=took, report=report, computed=())
    doing("loading the pipeline")
    with running(), ExitStack() as served:
        from orchestration.cli.graph_run import run_graph

        _serve_model(asked, served)
        return msgspec.structs.replace(run_graph(asked), seconds=time.monotonic() - start)


def _serve_model(asked: Request, until: ExitStack) -> None:
    """Serve the model of a run of one baseline, if no server is named and the model is installed."""
    from orchestration.benchmarks.baselines import SECTION
    from orchestration.project import open_workspace
    from orchestration.registry import BENCHMARKS
    from substrate.baselines.serving import available, served

    benchmark = BENCHMARKS.get(asked.only or "")
    if benchmark and benchmark.by_model and not os.environ.get(MODEL_URL) and available():
        settings = open_workspace(asked.profile, overrides=asked.overrides).settings
        if getattr(SECTION.of(settings), benchmark.name).model == SMOLLM2:
            os.environ[MODEL_URL] = until.enter_context(served())
            until.callback(os.environ.pop, MODEL_URL)
