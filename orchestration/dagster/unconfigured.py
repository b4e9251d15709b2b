"""Dagster's own executor and file manager, without their settings: the launch form must not set them, because
they could name a path, or a module to import.
"""

from __future__ import annotations

from typing import Any

import dagster as dg


def _unconfigured(definition: Any, **named: str) -> Any:
    return dg.configured(definition, config_schema={}, **named)(lambda _: {})


# One process, so that one Spark session serves the whole run.
IN_PROCESS: dg.ExecutorDefinition = _unconfigured(dg.in_process_executor, name=dg.in_process_executor.name)
FILES: dg.ResourceDefinition = _unconfigured(
    dg.FilesystemIOManager.configure_at_launch().get_resource_definition()
)
