"""The table of measurements on official data, to which every benchmark may contribute rows."""

from __future__ import annotations

from orchestration.benchmarks.benchmark import Table

REAL = Table(
    name="real",
    title="On official data",
    about="What was measured on official files: a row a number, with what was read and who stands beside it.",
    layout="official",
    trivial=("questions/trivial", "questions/last_word"),
    note="Systems beside it have the figure that was published on a whole official split; these files are "
    "parts of official releases, so nothing is subtracted. The counts of an F1 are twice the foretold events "
    "that came, of the foretold events plus the events that came; objects that enter later are left out.",
)
METHODS = Table(
    name="methods",
    title="Methods on the same official questions",
    about="Each two methods for the same official questions: the questions that one alone got right, and "
    "McNemar's p.",
    layout="by pair",
    note="A question is right if all of its choices are. Intervals are Newcombe's, 95 %.",
)
# The key of a benchmark's ``about`` that describes the data behind a row of this table.
MEASURED_ON = "real"
