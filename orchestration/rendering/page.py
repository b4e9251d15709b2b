"""The shared parts of the report's pages: templates, and the formatting, naming and linking of numbers."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from orchestration.lineage.number import NUMBERS
from orchestration.registry import BENCHMARKS
from orchestration.scoring.comparability import marked, percent, stated
from orchestration.scoring.counting import split_name
from orchestration.settings import flattened
from substrate.cause.pictures import STATES

HERE = Path(__file__).parent
SHARED = ("report.css", "answers.js", "report.js")
"""The files that the pages load: the style, and the scripts of tables, search and answers."""
RIGHT = 3
"""The number of answers per subset that are not wrong and have their steps in the report."""
NAMED = 100
"""The most wrong answers that the page of a number names."""


@cache
def templates() -> jinja2.Environment:
    """The templates of pages, parsed once per process; they escape markup in their arguments."""
    jinja = jinja2.Environment(
        loader=jinja2.PackageLoader("orchestration.rendering", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (breakable, number_page, answers_page, percent, label, claim_page, in_words, fixed, flattened)
    jinja.filters |= {function.__name__: function for function in filters}
    titles = {name: benchmark.title for name, benchmark in BENCHMARKS.items()}
    jinja.globals |= {"STATES": STATES, "TITLES": titles, "RIGHT": RIGHT, "NAMED": NAMED, "zip": zip}
    jinja.globals |= {"marked": marked, "stated": stated, "up": ""}
    jinja.globals["macros"] = jinja.get_template("macros.html.j2").module
    jinja.globals["layout"] = jinja.get_template("layout.html.j2")
    return jinja


def macros() -> Any:
    """The macros of the pages, for markup that is kept apart from its page."""
    return templates().globals["macros"]


def label(number: str) -> str:
    """A number in words, as the tables say it.

    >>> label("ablations/predictive.C/per_question"), label("gqa/by_name/accuracy")
    ('Ablations on CLEVRER: motion after the video, C, per question', 'GQA: by name, accuracy')
    """
    benchmark, (subset, metric) = NUMBERS[number], split_name(number)
    labels = benchmark.table[0].labels
    study, _, variant = subset.partition(".")
    words = [labels[study], variant] if study in labels else [subset]
    text = ", ".join(filter(None, [*words, labels.get(metric, metric)]))
    return f"{benchmark.title}: {text}".replace("_", " ")


def in_words(text: str) -> str:
    """Put each number's words in place of its name.

    >>> in_words("no data for gqa/by_name/accuracy")
    'no data for GQA: by name, accuracy'
    """
    return re.sub(
        r"\w+/[\w./]+",
        lambda name: label(name[0]) if name[0] in NUMBERS else name[0],
        text,
    )


def fixed(text: str) -> str:
    """Keep a figure on a line with its unit."""
    return re.sub(r" (%|pp)", "\u00a0\\1", text)


def number_page(number: str) -> str:
    """The path of a number's page in the report.

    >>> number_page("meadow/predictive/per_option")
    'numbers/meadow-predictive-per_option.html'
    """
    return f"numbers/{number.replace('/', '-')}.html"


def claim_page(name: str) -> str:
    """The path of a claim's page in the report.

    >>> claim_page("meadow_order")
    'claims/meadow_order.html'
    """
    return f"claims/{name}.html"


def answers_page(benchmark: str) -> str:
    """The path of a benchmark's page of answers in the report.

    >>> answers_page("meadow")
    'answers/meadow.html'
    """
    return f"answers/{benchmark}.html"


def breakable(text: str) -> Markup:
    """A number's name with possible line breaks after slashes, dots and underscores.

    >>> str(breakable("meadow/joint"))
    'meadow/<wbr>joint'
    """
    return Markup(re.sub(r"([/_.])", r"\1<wbr>", str(escape(text))))
