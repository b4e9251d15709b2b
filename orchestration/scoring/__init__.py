"""Counts, pairs, statistics, published numbers; this room knows rows and numbers, but no benchmark."""
