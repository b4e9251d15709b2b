"""GQA: scene graphs and compositional questions as typed deltas, answered by their semantic programs.

Begin with ``operations.py``: :data:`OPCODES` says what each operation takes, gives and does.

Each file imports only files above it::

    format.py        the official files, checked
    ontology.py      the TBox as tables: classes, attribute families, relations
    deltas.py        a scene graph becomes an event log
    arguments.py     the arguments of operations, and their parsers
    scene.py         look-ups in a scene's log
    operations.py    the operations, one entry each
    program.py       a program, type-checked by the table of operations
    answers.py       answers as rows
    explain.py       the steps to an answer; ``picture.py``: the objects that it rests on
"""
