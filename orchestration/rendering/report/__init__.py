"""The report: a folder of HTML pages that shows a whole run and opens from disk.

Open :mod:`.report` first: it writes every page. Each page has a module and a template. They lie side by side,
because the hash of a stage's code finds a template beside the module that names it:

    page                    module          template            takes from
    index.html              first_page      report.html.j2      the modules below
    claims/NAME.html        claims          claim.html.j2
    numbers/NAME.html       number_pages    number.html.j2      answers (the wrong answers of a number)
    answers/NAME.html       answers         answers.html.j2     shown_rows, examples
    FOLDER/SCENE.html       scenes          the benchmark's     shown_rows, examples
    states.html             states          states.html.j2      examples

The first page shows its sections in this order; the fields of :class:`.FirstPage` follow it:

    claims, and the plot of numbers on official data     claims, forest
    tables, and the figures of studies beside them       table_view
    every number with its interval                       forest
    the paper's figures, with those of benchmarks        diagrams, which draws on a sheet; fork.html.j2
    sizes of code                                        sizes
    worked explanations                                  examples

All use :mod:`.page`: templates, paths of pages, scripts; ``layout.html.j2`` is the frame of every page, and
``macros.html.j2`` has what several show. :mod:`.part_cache` keeps unchanged parts.
"""
