"""Benchmarks under changed conditions. Each study answers one question about the numbers of the benchmarks.

`robustness.py`   How fast do results fall when the input is not exact?
`reliability.py`  Do the probabilities of answers and of perceived events agree with the truth?
`evidence.py`     What do right answers rest on: recorded, simulated or missing events?
`questions.py`    How hard are the questions, and do keys contradict the duality?

Open `robustness.py` first. A study is a `Study` of parts, each a benchmark with the rows that it writes;
`sizes.py` has the numbers of cases. Rows have the subset "SETTING: CONDITION" (`named` in `shares.py`). From
their counts `shares.py` makes the table, and `figures.py` draws.
"""
