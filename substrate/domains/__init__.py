"""The domains, one folder each: a benchmark's files, its log, its answers and their reasons.

Every domain goes the same way, and most name their files after its steps::

    format.py        the benchmark's files as typed records, checked as they are read
    deltas.py        a record becomes an event log (in ``smallville``: ``twin.py``)
    scene.py         a log, opened for questions (in ``babi``: ``_reading.py``)
    program.py       runs a question's program by a table of opcodes; ``queries.py`` if it is a text
    answers.py       each question's answer as a row of ``rows.py`` (in ``smallville``: ``twin.py``)
    explain.py       the steps to an answer, with the deltas behind each
    picture.py       the evidence of an answer as a picture

``rows.py`` is the form of every answer, and decides what counts as right; read it first. Begin with ``babi``
for a domain whose state changes by what is told, with ``gqa`` for one without time, and with ``clevrer`` for
counterfactuals. ``comphy`` extends ``clevrer``; no other domain imports another one.

``_facts.py`` indexes a log without a store, for ``babi`` and ``gqa``, which look up subjects and objects. A
scene of CLEVRER has an index of its own, by predicate and tick, since its questions name a frame.
"""
