"""The paths of the pins and of the files beside them, and the profiles that pin in another way.

This module imports nothing heavy, so that a run with nothing to do can name the pins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from orchestration.benchmarks.declared import BEYOND

ACCEPTED = "pins/accepted.jsonl"
# The pinned verdicts on the paper's claims.
VERDICTS = "pins/claims.json"
# DVC's own files. The pins of the profile that DVC holds seal them, as they seal the rows.
IN_DVC = ("data.dvc", "dvc.lock")
# The profiles whose files DVC never holds: official files may not be stored, generated data come again. Of
# the others it holds one, the default profile of `params.yaml` (`orchestration.project.is_usual`).
WITHOUT_DVC = ("real", "local", BEYOND)
_Kind = Literal["official", "generated"]
# The profiles whose pinned results decide the paper's claims, and the kind of their data.
DECIDING: Mapping[str, _Kind] = {"real": "official", "sample": "generated", BEYOND: "generated"}


def pin_name(profile: str) -> str:
    """Return the path of a profile's pins in the project."""
    return f"pins/{profile}.json"


def rows_name(profile: str, stage: str) -> str:
    """Return the path of a stage's pinned rows."""
    return f"pins/{profile}/{stage.replace('/', '.')}.jsonl"


def accepted_name(profile: str) -> str:
    """Return the path of the record of acceptances, shared by all profiles in DVC."""
    return f"pins/{profile}.accepted.jsonl" if profile in WITHOUT_DVC else ACCEPTED


# The pins of the deciding profiles, which the report of any profile shows.
OF_CLAIMS = tuple(map(pin_name, DECIDING))
