"""Scores and traces in words, tables and pages; the statistics are those of :mod:`orchestration.scoring`.

Open first:

- :mod:`.tables` for a table's columns and its text in each format; the room :mod:`.layouts` decides the rows
  and columns of each table of results;
- the room :mod:`.report` for the HTML report;
- :mod:`.conclusion` for the last lines of a run, :mod:`.drift` for what differs from the pins.

:mod:`.wording` has the words for numbers and verdicts, :mod:`.figures` the drawings by matplotlib. The report
and the layouts import these modules, never the reverse. The report reads tables from their files; it imports
of the layouts only the head of a column, to find the cells of trivial methods among the pins.
"""
