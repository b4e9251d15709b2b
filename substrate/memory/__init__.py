"""An agent's memory on an event log."""
