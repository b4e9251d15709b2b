"""Adapters of logs to other frameworks, one module per framework; each module needs its own extra."""
