"""The layouts of the tables of results: which rows and columns each table has, and what its caption says.

Open :mod:`.results` first: it names all layouts. A benchmark declares the layout of its table by name:

    layout       a row is                     columns beside the measurement                   module
    by subset    a number of table 1          the paper, its rivals, both gaps to the best     results
    by number    a number of any benchmark    the paper, then all other systems in one column  results
    by variant   a variant of section 6       two halves: per question and per option          results
    by metric    a metric of table 2          two columns a system: measured, printed          language_models
    official     a number on official data    figures published of whole splits                official
    by pair      two variants, one question   McNemar's test                                   official

By metric and by pair excepted, each has the two columns of :mod:`.best_trivial`. By pair excepted, each has
a caption of :mod:`.captions`, whose words are in ``captions.txt.j2``. :mod:`.language_models` also has the
rows that judge a model in the table by number.
"""
