"""The shared parts of the report's pages: templates, the paths of pages, and filters that templates use."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import msgspec
from markupsafe import Markup, escape

from orchestration.registry import BENCHMARKS
from orchestration.rendering.wording import in_words, label
from orchestration.scoring.comparability import marked, percent, stated
from orchestration.scoring.published import published
from orchestration.settings import flattened
from substrate.cause.pictures import STATES

HERE = Path(__file__).parent
# The files that the pages load: the style, and the scripts of tables, search and answers.
SHARED = ("report.css", "answers.js", "report.js")
# The number of answers per subset that are not wrong and have their steps in the report.
RIGHT = 3
# The most wrong answers that the page of a number names.
NAMED = 100


@cache
def templates() -> jinja2.Environment:
    """The templates of pages, parsed once per process; they escape markup in their arguments."""
    jinja = jinja2.Environment(
        loader=jinja2.PackageLoader("orchestration.rendering.report", ""),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (breakable, number_page, answers_page, percent, label, claim_page, in_words, fixed, flattened)
    jinja.filters |= {function.__name__: function for function in filters}
    titles = {name: benchmark.title for name, benchmark in BENCHMARKS.items()}
    jinja.globals |= {"STATES": STATES, "TITLES": titles, "RIGHT": RIGHT, "NAMED": NAMED, "zip": zip}
    jinja.globals |= {"marked": marked, "stated": stated, "up": "", "published": published}
    jinja.globals["macros"] = jinja.get_template("macros.html.j2").module
    jinja.globals["layout"] = jinja.get_template("layout.html.j2")
    return jinja


def write_page(out: Path, place: str, template: str, **variables: Any) -> None:
    """Write a page of the report from its template; ``up`` leads from its place to the report's folder."""
    page = templates().get_template(template).render(up="../" * place.count("/"), **variables)
    (out / place).write_text(page, "utf-8")


def write_script(path: Path, function: str, *values: Any) -> None:
    """Write a script that calls a page's function with data: a page from disk can load only scripts."""
    arguments = ", ".join(msgspec.json.encode(value).decode() for value in values)
    path.write_text(f"{function}({arguments})\n", "utf-8")


def macros() -> Any:
    """The macros of the pages, for markup that is kept apart from its page."""
    return templates().globals["macros"]


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
