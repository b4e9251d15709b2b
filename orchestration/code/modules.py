"""The project's modules, each parsed into statements once: `exam` and `marks` in the room's example.

Parsed modules are cached in `.dagster/`, outside git, by the hash of their files; a damaged or outdated cache
is rebuilt. The cache is read before anything else, so no storage, ledger or DVC is loaded yet.
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

from orchestration.code.checkout import PACKAGES, ROOT, paths
from orchestration.code.statements import Module, parse
from substrate.base.inputs import NOT_JSON

CACHE = Path(".dagster", "modules.msgpack")
# The most parsed files to cache; beyond it the cache is emptied, since most of its files are gone.
_MOST = 5000


class _Cache(msgspec.Struct):
    """The cache of parsed modules.

    Attributes:
        parser: the hash of this room's files, and the version of Python; another parser's cache is outdated.
        modules: the modules, by the hash of their names and bytes.
        written: the number of entries that the cache file has.
    """

    parser: str
    modules: dict[str, Module] = {}
    written: int = 0


@cache
def module_of(name: str) -> Module:
    """Parse a module of the project; a module without a file has no statements."""
    if (path := paths().get(name)) is None:
        return Module()
    data, parsed = path.read_bytes(), _cache().modules
    # Relative imports depend on the module's name, so the key includes it.
    key = hashlib.sha256(name.encode() + b"\n" + data).hexdigest()
    if key not in parsed:
        parsed[key] = parse(data, name, package=path.name == "__init__.py")
    return parsed[key]


@cache
def _cache() -> _Cache:
    room = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    parser = f"{hashlib.sha256(room).hexdigest()} {sys.version_info[:2]}"
    with suppress(OSError, *NOT_JSON):
        known = msgspec.msgpack.decode((ROOT / CACHE).read_bytes(), type=_Cache)
        if known.parser == parser and len(known.modules) < _MOST:
            return known
    return _Cache(parser)


def save_parsed() -> None:
    """Save newly parsed modules; if that fails, the next process parses them again."""
    parsed, path = _cache(), ROOT / CACHE
    if parsed.written == len(parsed.modules):
        return
    parsed.written = len(parsed.modules)
    with suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        fresh = path.with_name(f"{path.name}.{os.getpid()}")
        fresh.write_bytes(msgspec.msgpack.encode(parsed))
        fresh.replace(path)


def packages_of(files: Iterable[str]) -> set[str]:
    """The third-party packages that some files of the project import, by import name."""
    return set[str]().union(*map(_packages, files))


@cache
def _packages(file: str) -> set[str]:
    module = module_of(file.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
    imports = (source for statement in module.statements for source in statement.imports)
    return {source.module.partition(".")[0] for source in imports} - sys.stdlib_module_names - {*PACKAGES}
