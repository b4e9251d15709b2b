"""A benchmark under conditions: robustness, reliability, questions, evidence."""
