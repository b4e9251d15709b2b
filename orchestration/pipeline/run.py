"""The earlier name of :mod:`orchestration.dagster.run` and of `instance` beside it, for scripts."""

from orchestration.dagster.instance import instance
from orchestration.dagster.run import RunError, recompute, run_stages

__all__ = ["RunError", "instance", "recompute", "run_stages"]
