"""Speed: the programs that measure it, each beside a peer or over growing input; no result depends on them.

Begin with `speed/measure.py`, whose `Bench` is a row of the table that ``substrate bench`` prints; then open
the file of the work in question. docs/design/speed.md has the measured figures and the goals.

======================  ===================================================  =================================
file                    measures                                             run as
======================  ===================================================  =================================
`speed/core.py`         logs, states, forks, ancestry, files                 ``substrate bench fork``
`speed/cold.py`         a log's first question after it is read              ``substrate bench cold-head``
`speed/memory.py`       questions to an agent's `Memory`, beside SQLite      ``substrate bench memory-why``
`speed/branches.py`     many branches and past ticks, asked by SPARQL        ``substrate bench worlds``
`speed/clevrer.py`      CLEVRER: scenes, programs, forks, perceived videos   ``substrate bench clevrer``
`speed/plain.py`        bAbI and GQA beside regular expressions              ``substrate bench babi``
`speed/twin.py`         Twin-EventLog: specifications to rows                ``substrate bench twin``
`speed/sample.py`       the whole reproduction, in minutes                   ``substrate bench sample``
`speed/kept.py`         a few benches beside their recorded figures          ``make check``
`worlds.py`             each of 10,000 branches: median, 99th per cent       ``python benchmarks/worlds.py``
`worlds_datascript.js`  a hundred branches in DataScript, a peer             ``node``
`scale.py`              the stages over more and more cases                  ``python benchmarks/scale.py``
`beside_a_loop.py`      Spark beside a plain loop                            ``python`` likewise
======================  ===================================================  =================================

The other files help these. In `speed/`, `benches.py` lists all benches, `measure.py` times them, and
`children.py` does so in other processes; `workloads.py` makes villages, and `executor.py` is CLEVRER's peer.
For `scale.py` and `beside_a_loop.py`, whose figures stand in docs/scale.md, `projects.py` runs stages in a
scratch project, `processes.py` reads the kernel's accounts, and `scaled_input.py` makes input.
"""
