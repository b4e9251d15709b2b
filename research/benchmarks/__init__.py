"""The declarations of the benchmarks beyond the paper; `orchestration/registry.py` lists them in their order.

A file declares its benchmarks from the top down: the user's files (`bm.Data`), how they become cases, logs
and rows, and at the end the declaration with the names of its numbers. Open `clevrer_humans.py` first: it is
short and complete.

==========================  ==================================================================================
file                        benchmarks, and what is new about them
==========================  ==================================================================================
`clevrer_humans.py`         people's causal questions about CLEVRER's scenes
`clevrer_validation.py`     official questions that MVBench selected, by each method
`perceived.py`              CLEVRER's questions, answered from a detector's proposals
`perceived_unseen.py`       the same in videos that no fit saw, and from every possible log
`comphy_inferred.py`        ComPhy with hidden properties inferred
`babi_10k.py`               bAbI's larger files
`gqa_programs.py`           GQA's programs, compiled without scene graphs
`gqa_scenes.py`             the public scene graphs of GQA
`truths.py`                 questions made from the true events of real videos
`foretold.py`               the later collisions of real videos, predicted from earlier frames
`agreement.py`              real videos without an object: agreement of methods, with no gold
`met.py`                    who met whom in Smallville's published simulation
`readers.py`                more language models that read logs, with tools or reasoning
==========================  ==================================================================================

`filmed.py` has the files about real videos that `truths`, `foretold` and `agreement` share. `make_real.py` is
no declaration but a program: it makes files of the profile `real` from NS-DR's release.
"""

from orchestration.benchmarks.benchmark import BEYOND

GENERATED = (BEYOND, "local")
"""The profiles of what goes beyond the paper on generated worlds or a user's files."""
REAL = ("real",)
"""The profile of what is asked of one official release alone."""
OFFICIAL = (*REAL, "local")
"""The profiles of what can only be measured on official files or a user's."""
BOTH = (BEYOND, *OFFICIAL)
