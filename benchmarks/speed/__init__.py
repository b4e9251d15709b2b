"""The measurements of ``substrate bench``: each work is compared with a peer or a part of it, in one run.

`measure.py` says what a bench is and times it; `benches.py` lists all. The file of a subject (`core.py`,
`memory.py`, …) defines its benches and ends in a table of them. It imports `measure.py`, `workloads.py` and,
for the first work of a process, `children.py`, but no other subject. The docstring of the package
`benchmarks` has a table of the files.
"""
