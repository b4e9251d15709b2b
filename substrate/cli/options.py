"""Commands made from a table: what a benchmark or a world takes becomes options that typer reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from substrate.cli.console import shaped, speaking_as

REQUIRED = inspect.Parameter.empty
"""The default of an option that has to be given."""


def command_of(
    run: Callable[..., None], options: dict[str, tuple[Any, Any]], about: str, name: str
) -> Callable[..., None]:
    """A long command whose signature typer reads: keyword options with their types and defaults."""

    def command(**given: Any) -> None:
        run(**given)

    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(name, kind, default=default, annotation=type_)
        for name, (type_, default) in options.items()
    ]
    command.__doc__ = about
    return speaking_as(name)(shaped(command, parameters))
