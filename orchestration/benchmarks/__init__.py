"""The benchmarks: pure functions on bytes and values; no path of a profile, no Spark, no Dagster."""
