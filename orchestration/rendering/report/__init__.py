"""The report: a folder of HTML pages that shows a whole run and opens from disk.

Open :mod:`.report` first: it writes every page, in this order.

- The first page: :mod:`.first_page` gathers its content. It takes tables from :mod:`.table_view`, the plot of
  intervals from :mod:`.forest`, drawings from :mod:`.diagrams` (on a :mod:`.sheet`), sizes of code from
  :mod:`.sizes`, and what it says of claims from :mod:`.claims`, which also writes a page for each claim.
- Pages of answers are written by :mod:`.answers`; :mod:`.shown_rows` decides which answers have their steps.
  Pages of videos are written by :mod:`.scenes`. Both show explanations as :mod:`.examples` pictures them.
- :mod:`.number_pages` writes a page for each number, :mod:`.states` the page of the logs behind the examples.

Every writer uses :mod:`.page`: templates, paths of pages, scripts. :mod:`.part_cache` keeps unchanged parts.
A template lies beside the module that names it, because the hash of a stage's code finds it there.
"""
