"""Text for a terminal."""

from __future__ import annotations

from rich import markup

from substrate.cli.printing import shown


def escape(text: str) -> str:
    """Escape a text so that neither rich nor a terminal interprets it as markup or control codes."""
    return markup.escape(shown(text))
