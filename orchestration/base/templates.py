"""Templates with escaping rules of their own: Turtle, Markdown, terminal outlines, table pages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2


def text_template(beside: str, name: str, **filters: Callable[..., Any]) -> Any:
    """Load a template that lies next to a module; a name that it is not given is an error.

    Args:
        beside: the module's ``__file__``.
        name: the template's file.
        filters: functions that the template may call, such as ``e`` for the escaping of its format.

    >>> from orchestration.rendering import tables
    >>> page = text_template(tables.__file__, "table.html.j2", e=str)
    >>> "<!doctype html>" in page.render(title="A", table="")
    True
    """
    jinja = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(beside).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    jinja.filters |= filters
    return jinja.get_template(name)
