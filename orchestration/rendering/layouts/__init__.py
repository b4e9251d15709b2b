"""The layouts of the tables of results: which rows and columns each table has, and what its caption says.

Open :mod:`.results` first: it names all layouts, and has those of scores beside published figures.
:mod:`.language_models` has the table of models, and the rows that judge a model in other tables;
:mod:`.official` has the tables of official data. They take captions from :mod:`.captions`, whose words are in
``captions.txt.j2``, and the columns about trivial methods from :mod:`.best_trivial`.
"""
