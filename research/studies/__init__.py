"""Benchmarks under changed conditions. Each study answers one question about the numbers of the benchmarks.

`robustness.py`   How fast do results fall when the input is not exact?
`reliability.py`  Do the probabilities of answers and of perceived events agree with the truth?
`evidence.py`     What do right answers rest on: recorded, simulated or missing events?
`questions.py`    How hard are the questions, and do keys contradict the duality?

Open `robustness.py` first; the other studies have the same form. A study is a `Study` of parts, and a part is
a benchmark with the rows that it writes. `conditions.py` has the changes of the input, and `sizes.py` has the
numbers of cases. `shares.py` counts the rows by the cells of a table, each a setting under a condition.
`figures.py` draws the counts.
"""
