"""The way from a number to its sources and from an answer to its ticks, from records and pure functions."""
