"""The fitted constants of perception, from ``constants.json``.

``python -m research.domains.perception.calibrate`` writes that file; :mod:`.camera` and :mod:`.belief` give
the meaning of each constant.
"""

from __future__ import annotations

from importlib.resources import files
from typing import TypeVar

import msgspec

T = TypeVar("T")
_FILE = files("research.domains.perception") / "constants.json"


def fitted(part: str, kind: type[T]) -> T:
    """Read a part of the constants."""
    return msgspec.convert(msgspec.json.decode(_FILE.read_bytes())[part], kind)
