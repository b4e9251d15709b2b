"""Text for a terminal."""

from __future__ import annotations

from rich import markup

from substrate.cli.printing import shown


def escape(text: str) -> str:
    """A text that neither rich nor a terminal takes for an order."""
    return markup.escape(shown(text))
