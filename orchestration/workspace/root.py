"""The place of the project."""

from __future__ import annotations

from pathlib import Path

from orchestration.settings import PARAMETERS_FILE
from substrate.base.errors import ParameterError

_CHECKOUT = Path(__file__).resolve().parents[2]


def find_root() -> Path:
    """The project folder: the nearest one upward that has a ``params.yaml``, else the one this code runs
    from.

    Raises:
        ParameterError: there is none.
    """
    here = Path.cwd()
    for folder in (here, *here.parents, _CHECKOUT):
        if (folder / PARAMETERS_FILE).is_file() and (folder / "workspace.yaml").is_file():
            return folder
    raise ParameterError(
        "no project here", where=(here,), hint=f"Run this inside a checkout, where {PARAMETERS_FILE} lies"
    )
