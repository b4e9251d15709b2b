"""Counts, pairs, statistics, published numbers; it knows rows and numbers by name, and no benchmark."""
