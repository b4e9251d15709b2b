"""The modules of the project as they are parsed, each kept by the hash of its file.

What was parsed lies in `.dagster/`, outside git. A file that is damaged, or of another form, is made anew.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec

from orchestration.code import definitions
from orchestration.code.data import content
from orchestration.code.definitions import Source, parse
from substrate.base.inputs import NOT_JSON

ROOT = Path(__file__).resolve().parents[2]
"""The checkout that the code runs from."""
PACKAGES = ("orchestration", "research", "substrate")
KEPT = Path(".dagster", "definitions.msgpack")
_MOST = 5000
"""The number of files kept before all are forgotten, most of which are there no more."""


class _Kept(msgspec.Struct):
    """All that was parsed, by the hash of the bytes."""

    form: str
    modules: dict[str, Source] = {}
    data: dict[str, str] = {}
    written: int = 0
    """The number of them that the file holds."""

    @property
    def size(self) -> int:
        return len(self.modules) + len(self.data)


def is_ours(module: str) -> bool:
    """Tell whether a module is of this project."""
    return module.partition(".")[0] in PACKAGES


def path_of(module: str) -> Path | None:
    """The file of a module; ``None`` where there is no such module, as for a name that a module binds."""
    return _paths().get(module)


@cache
def _paths() -> dict[str, Path]:
    """The file of each module of the project; of a folder, that of its package."""
    found: dict[str, Path] = {}
    for package in PACKAGES:
        for folder, _, files in os.walk(ROOT / package):
            name = os.path.relpath(folder, ROOT).replace(os.sep, ".")
            found |= {f"{name}.{file[:-3]}": Path(folder, file) for file in files if file.endswith(".py")}
            found[name] = Path(folder, "__init__.py")
    return found


@cache
def source_of(module: str) -> Source:
    """A module as definitions; one without a file has none."""
    path = path_of(module)
    if path is None or not path.is_file():
        return Source()
    data, kept = path.read_bytes(), _kept()
    # An import may be relative to where the module lies.
    key = hashlib.sha256(module.encode() + b"\n" + data).hexdigest()
    if key not in kept.modules:
        kept.modules[key] = parse(data, module, package=path.name == "__init__.py")
    return kept.modules[key]


def packages_of(files: Iterable[str]) -> set[str]:
    """The packages of others that some files of the project import, by their names in Python."""
    return set[str]().union(*(_imported(file) for file in files if file.endswith(".py")))


@cache
def _imported(file: str) -> set[str]:
    source = source_of(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    inner = (name for one in source.definitions for name in one.imports.values())
    roots = {name.partition(":")[0].partition(".")[0] for name in (*source.loads, *inner)}
    return roots - sys.stdlib_module_names - set(PACKAGES)


@cache
def short_of(path: Path) -> str:
    """The first digits of a hash of what a data file says."""
    data, kept = path.read_bytes(), _kept()
    key = hashlib.sha256(path.suffix.encode() + b"\n" + data).hexdigest()
    if key not in kept.data:
        kept.data[key] = hashlib.sha256(content(path.suffix, data)).hexdigest()[:16]
    return kept.data[key]


@cache
def _kept() -> _Kept:
    parsers = (Path(definitions.__file__), Path(content.__code__.co_filename))
    form = hashlib.sha256(b"".join(path.read_bytes() for path in parsers)).hexdigest()
    form = f"{form} {sys.version_info[:2]}"
    with suppress(OSError, *NOT_JSON):
        kept = msgspec.msgpack.decode((ROOT / KEPT).read_bytes(), type=_Kept)
        if kept.form == form and kept.size < _MOST:
            kept.written = kept.size
            return kept
    return _Kept(form)


def keep() -> None:
    """Write what was parsed since it was read; where that cannot be written, it is parsed again next time."""
    kept = _kept()
    if kept.size == kept.written:
        return
    path = ROOT / KEPT
    with suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        fresh.write_bytes(msgspec.msgpack.encode(kept))
        fresh.replace(path)
    kept.written = kept.size
