"""Tables, figures and the report; this room shows scores and traces.

Where to start:

- a table: :mod:`.results` has the rows of each, :mod:`.captions` its caption, :mod:`.tables` turns both into
  text; :mod:`.official` and :mod:`.best_trivial` add the official measurements and the trivial methods;
- the report: :mod:`.report` writes its first page, with tables by :mod:`.report_tables`, figures by
  :mod:`.figures` and :mod:`.diagrams`, and :mod:`.sizes`; the other pages are those of :mod:`.numbers`,
  :mod:`.answers`, :mod:`.scenes`, :mod:`.claims` and :mod:`.examples`. :mod:`.page` has what pages share, and
  :mod:`.part_cache` keeps unchanged parts;
- a terminal: :mod:`.conclusion` has the last lines of a run, :mod:`.drift` describes what differs.
"""
