"""The checkout that the code runs from: its packages, and the file of each of their modules.

Only their modules have statements: an import of another project leads nowhere.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

# The folder of the checkout.
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("orchestration", "research", "substrate")


def is_ours(module: str) -> bool:
    """Tell whether a module belongs to this project."""
    return module.partition(".")[0] in PACKAGES


@cache
def paths() -> dict[str, Path]:
    """The file of each module of the project; for a package, its ``__init__``."""
    files: dict[str, Path] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            files[name.removesuffix(".__init__")] = path
    return files


@cache
def file_of(module: str) -> str:
    """The path of a module's file in the checkout."""
    return paths()[module].relative_to(ROOT).as_posix()
