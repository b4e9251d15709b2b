"""The entry point by which Inspect finds the tasks `substrate/…`, which are in the package `research`."""

from substrate.base.extras import needed

needed("research.exporters.inspect_tasks")
