"""A number's way to its sources, an answer's to its ticks; it reads records and runs pure functions."""
