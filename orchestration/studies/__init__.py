"""Studies: benchmarks under varied conditions, and the resulting numbers."""
