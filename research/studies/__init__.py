"""Benchmarks under changed conditions. Each study answers one question about the numbers of the benchmarks.

`robustness.py`   How fast do results fall when the input is not exact?
`reliability.py`  Do the probabilities of answers and of perceived events agree with the truth?
`evidence.py`     What do right answers rest on: recorded, simulated or missing events?
`questions.py`    How hard are the questions, and do keys contradict the duality?

Open `robustness.py` first; the other studies have the same form. A study is a `Study` of parts, and a part is
a benchmark with the rows that it writes. `conditions.py` has the changes of the input, and `sizes.py` has the
numbers of cases. `shares.py` counts the rows by the cells of a table, each a setting under a condition.
`figures.py` draws the counts.

Each file ends in its `Study`, which joins what stands above it: `rows` (from a case to its rows), `expected`
(how many rows of each subset a case must give), and what the report shows: either a table, by `tabled` of
`shares.py`, or figures and sections, by `draw` and `sections`. The words of the room, with the file that
defines them:

- `Subject` (`robustness.py`, `evidence.py`): a benchmark that the study asks again or explains.
- `Condition` (`conditions.py`): a way to ask again, such as a change of the observed positions.
- `Again` (`robustness.py`): one case before and after its change, and the settings to ask it in.
- setting: how the system answers, such as configuration C of predictive questions.
- `Cell` (`shares.py`): a setting under a condition; a row names it in its subset, a table has a line for it.
- `Weighed` (`shares.py`): a row that stands for a number of answers which have something in common.
- `Fall` (`figures.py`): a benchmark's accuracy, a point for each setting and condition.
- `Chance` (`reliability.py`): a stated probability, and whether the choice or event was true.
"""
