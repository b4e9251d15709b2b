"""The domains, one folder each: records, logs and answers, built on the core."""
