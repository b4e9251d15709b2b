"""The declarations of the benchmarks beyond the paper."""
