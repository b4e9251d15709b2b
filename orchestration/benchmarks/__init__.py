"""The benchmarks: pure functions on bytes and values, without a profile's paths, Spark or Dagster."""
