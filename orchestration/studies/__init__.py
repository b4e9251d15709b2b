"""Studies: benchmarks under varied conditions, and the resulting numbers.

Open :mod:`.study` first: it declares a study and its parts, and counts their rows. :mod:`.ablations` is the
paper's study; `research/studies` has more. :mod:`.determinism` is no study: it repeats a benchmark's answers
and compares bytes, not numbers.
"""
