"""The earlier place of :func:`orchestration.dagster.instance.instance`.

Scripts outside this repository import it from here.
"""

from orchestration.dagster.instance import instance

__all__ = ["instance"]
