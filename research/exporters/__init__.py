"""The project for other tools: Inspect, lm-eval, data sets to share, RO-Crate, an annotated paper."""
