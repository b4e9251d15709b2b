"""Experiments: results under other parameters, beside a profile's, and how they differ."""
