"""Commands made from a table: the inputs of a benchmark or world become typer options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from substrate.cli.console import shaped, speaking_as

REQUIRED = inspect.Parameter.empty
"""The default of a required option."""


def command_of(
    run: Callable[..., None], options: dict[str, tuple[Any, Any]], about: str, name: str
) -> Callable[..., None]:
    """Make a long command whose signature has the options with their types and defaults, for typer."""

    def command(**given: Any) -> None:
        run(**given)

    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(name, kind, default=default, annotation=type_)
        for name, (type_, default) in options.items()
    ]
    command.__doc__ = about
    return speaking_as(name)(shaped(command, parameters))
