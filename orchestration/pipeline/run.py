"""The earlier name of :mod:`orchestration.dagster.run`."""

from orchestration.dagster.run import RunError, instance, recompute, run_stages

__all__ = ["RunError", "instance", "recompute", "run_stages"]
