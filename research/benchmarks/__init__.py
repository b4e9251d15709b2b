"""The declarations of the benchmarks beyond the paper."""

from orchestration.benchmarks.benchmark import BEYOND

GENERATED = (BEYOND, "local")
"""The profiles of what goes beyond the paper on generated worlds or a user's files."""
OFFICIAL = ("real", "local")
"""The profiles of what can only be measured on official files or a user's."""
BOTH = (BEYOND, *OFFICIAL)
