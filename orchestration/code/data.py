"""The content of a data file, without comments and layout if its format is known."""

from __future__ import annotations

from collections.abc import Iterator


def content(suffix: str, data: bytes) -> bytes:
    """The content of a file: for YAML and Turtle the parsed data in order, for other formats the bytes.

    >>> content(".yaml", b"a: [1, 2]  # a remark") == content(".yaml", b"a:\\n- 1\\n- 2\\n")
    True
    """
    read = _READ.get(suffix)
    try:
        return "\n".join(read(data.decode())).encode() if read else data
    except (ValueError, SyntaxError):
        return data


def _yaml(text: str) -> Iterator[str]:
    import yaml

    try:
        yield repr(yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except yaml.YAMLError as error:
        raise ValueError(text) from error


def _turtle(text: str) -> Iterator[str]:
    import pyoxigraph as ox

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
