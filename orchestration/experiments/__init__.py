"""Experiments: results under other parameters than a profile's, and how the two differ."""
