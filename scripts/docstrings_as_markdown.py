"""For the site of `make docs`: docstrings as Markdown, doctests as code and roles as code in line."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension  # pyright: ignore[reportMissingImports]

_ROLE = re.compile(r":(?:class|func|meth|mod|data|attr):`~?([^`]+)`")
_LITERAL = re.compile(r"``([^`]+)``")


def as_markdown(text: str) -> str:
    """A docstring as Markdown; each doctest is fenced, up to the next blank line.

    >>> as_markdown("See :class:`Log`.\\n\\n>>> 1 + 1\\n2").splitlines()
    ['See `Log`.', '', '```pycon', '>>> 1 + 1', '2', '```']
    """
    lines: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if not fenced and line.lstrip().startswith(">>> "):
            fenced = True
            lines.append("```pycon")
        if fenced and not line.strip():
            fenced = False
            lines.append("```")
        plain = _LITERAL.sub(r"`\1`", _ROLE.sub(r"`\1`", line))
        lines.append(line if fenced else plain)
    return "\n".join([*lines, "```"] if fenced else lines)


class DocstringsAsMarkdown(Extension):
    """The extension that mkdocstrings loads."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Rewrite an object's docstring before it is parsed."""
        if obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)
