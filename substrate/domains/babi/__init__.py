"""bAbI: stories told in sentences, and questions about them.

Begin with ``deltas.py``, which tells a story sentence by sentence, then ``answers.py``, which answers.
The two halves share only ``format.py`` (the files), ``_lexicon.py`` (the words that the TBox knows) and
``_terms.py`` (how the log spells them)::

    a sentence    sentences.py, on _phrases.py: the grammar
                  facts.py: the facts that a sentence may tell
                  _telling.py: the deltas of a fact
    a question    queries.py: its pattern
                  _whereabouts.py, _hands.py, _orders.py, _reasons.py: its answer, by SPARQL
                  _reading.py: the state at a tick, and the evidence
"""
