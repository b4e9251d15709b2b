"""The entry point by which Inspect finds the tasks `substrate/…`, which are in the package `research`."""

from substrate.base.extras import import_extra

import_extra("research.exporters.inspect_tasks")
