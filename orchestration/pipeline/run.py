"""The earlier place of :func:`orchestration.dagster.instance.instance`, for scripts."""

from orchestration.dagster.instance import instance

__all__ = ["instance"]
