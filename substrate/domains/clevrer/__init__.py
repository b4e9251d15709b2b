"""CLEVRER: colliding objects; questions about events, causes, the future and removed objects.

Begin with ``program.py``, the stack machine: :data:`OPCODES` says what each token of a question's program
does. The way of a question is ``answers.py`` ► ``program.py`` ► ``scene.py``; of a log, ``format.py`` ►
``deltas.py``.

The words: a *film* is an official annotation, decoded as far as its log needs it. A *scene* is a log, opened
for questions. *Motion* is the simulator of bodies, which knows no log. A *course* is what the bodies do when
some of them leave their filmed paths. The *emitter* makes the deltas of a fork of the scene from a course.

Each file imports only files above it::

    grammar.py, questions.py      texts and programs by one table, questions.toml
    checks.py, format.py          the official files, checked; ``film.py``: an annotation read in part
    trajectories.py               positions that a tracker gave
    deltas.py                     a record becomes an event log
    motion/                       the law of motion and its simulator; knows no log
    scene.py                      a log, opened for questions
    emitter.py                    simulated forks of a scene
    counterfactual.py             which events happen without an object: Algorithm 2, and other methods
    parameters.py, kinematics.py  the settings; Algorithm 3
    kinds.py, program.py          the language of programs: its types, its opcodes
    _chances.py                   how probable an answer about an imagined world is
    answers.py                    answers as rows; ``submission.py``: as the official server takes them
    evidence.py, explain.py       the deltas behind a step, and the explanation of an answer
    picture.py                    the timeline of an answer
"""
