"""The search for the project's folder."""

from __future__ import annotations

from pathlib import Path

from orchestration.settings import PARAMETERS_FILE
from substrate.base.errors import ParameterError

_CHECKOUT = Path(__file__).resolve().parents[2]


def find_root() -> Path:
    """Find the project folder: the nearest parent folder with a ``params.yaml``, else the folder of this
    code.

    Raises:
        ParameterError: there is no such folder.
    """
    here = Path.cwd()
    for folder in (here, *here.parents, _CHECKOUT):
        if (folder / PARAMETERS_FILE).is_file() and (folder / "workspace.yaml").is_file():
            return folder
    raise ParameterError(
        "no project here", where=(here,), hint=f"Run this inside a checkout, where {PARAMETERS_FILE} lies"
    )
