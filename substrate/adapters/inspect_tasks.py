"""The door by which Inspect finds the tasks `substrate/…`; they lie beside the library, in `research`."""

from substrate.base.extras import needed

needed("research.exporters.inspect_tasks")
