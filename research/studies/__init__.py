"""Benchmarks under changed conditions: robustness, reliability, questions, evidence."""
