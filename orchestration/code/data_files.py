"""The data files that statements name, and the hashes of their content.

If the room's example said ``LIMIT = "limits.yaml"``, the file `limits.yaml` beside `exam` would count.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyoxigraph as ox
import yaml

from orchestration.code.checkout import ROOT, paths
from orchestration.code.modules import module_of
from orchestration.code.statements import Statement, short_hash


@cache
def data_files(statement: Statement) -> dict[str, str]:
    """The hashes of the data files that a statement names, by their paths in the checkout.

    A data file counts if it lies next to the statement's module. A TBox counts if that module imports
    ``TBox``: the name of a TBox is an ordinary word, which other modules may use for something else.
    """
    texts, folder = statement.texts, paths()[statement.module].parent
    named = [folder / text for text in texts if "." in text]
    if _loads_tboxes(statement.module):
        named += [ROOT / "tboxes" / f"{text}.ttl" for text in texts]
    there = [path for path in named if path.suffix != ".py" and path.is_file()]
    return {path.relative_to(ROOT).as_posix(): _hash_of(path) for path in there}


@cache
def _loads_tboxes(module: str) -> bool:
    return any(source.name == "TBox" for part in module_of(module).statements for source in part.imports)


@cache
def _hash_of(path: Path) -> str:
    return short_hash(_content(path.suffix, path.read_bytes()))


def _content(suffix: str, data: bytes) -> bytes:
    """The content of a file: for YAML and Turtle the parsed data in order, for other formats the bytes.

    >>> _content(".yaml", b"a: [1, 2]  # a remark") == _content(".yaml", b"a:\\n- 1\\n- 2\\n")
    True
    """
    read = _READ.get(suffix)
    try:
        return "\n".join(read(data.decode())).encode() if read else data
    except (ValueError, SyntaxError, yaml.YAMLError):
        return data


def _yaml(text: str) -> Iterator[str]:
    yield repr(yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def _turtle(text: str) -> Iterator[str]:
    names: dict[str, str] = {}
    parser = ox.parse(text, ox.RdfFormat.TURTLE)
    for quad in parser:
        # A blank node gets a new name each time the file is read.
        parts = (
            names.setdefault(str(part), f"_:{len(names)}") if isinstance(part, ox.BlankNode) else str(part)
            for part in quad.triple
        )
        yield " ".join(parts)
    yield from (f"{name}: {iri}" for name, iri in sorted(parser.prefixes.items()))


_READ = {".yaml": _yaml, ".yml": _yaml, ".ttl": _turtle}
