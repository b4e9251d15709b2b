"""Measurements on real and on new generated data: programs whose tables the pages of `docs/` show.

No pin holds these figures, so each page names the command, ``python -m research.measurements.NAME``. The
programs compute with the code of `research.domains`, `research.benchmarks` and the packages below; each
stands alone, ends in its `main`, and writes Markdown by `markdown.py`.

============================  =================================================  =====================
program                       question                                           page
============================  =================================================  =====================
`clevrer_counterfactuals.py`  Do duality, partner rule and simulation agree?     findings.md
`clevrer_duality.py`          How often does each of its conditions fail?        findings.md
`clevrer_removed.py`          What would all official questions have given?      findings-paper.md
`clevrer_seeds.py`            How far do numbers move with other scenes?         findings-paper.md
`clevrer_radius.py`           How large are CLEVRER's objects?                   findings-paper.md
`clevrer_questions.py`        What are accuracies on generated questions worth?  findings-paper.md
`clevrer_worlds.py`           Does the generated world look like the real one?   design/worlds.md
`clevrer_foretelling.py`      Does simulated motion follow the real one?         design/foretelling.md
`clevrer_perception.py`       How right are perceived events, and answers?       perception.md
`clevrer_limits.py`           Which part of perception loses wrong answers?      perception.md
`clevrer_oracle.py`           What would better states give a prediction?        perception.md
============================  =================================================  =====================

The other files are no programs. `clevrer_statistics.py` and `clevrer_fit.py` are the histograms and the
fitted constants of `clevrer_worlds.py`. `question_statistics.py` has what `clevrer_questions.py` and
`clevrer_removed.py` count in a question. `foretold_by_frame.py` is the part ``future`` of
`clevrer_perception.py`.
"""
