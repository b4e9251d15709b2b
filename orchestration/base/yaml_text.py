"""YAML as parameters need it: plain values, every key once, nothing that stands for something else."""

from __future__ import annotations

import math
from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from substrate.base.errors import ParameterError
from substrate.base.inputs import refusal
from substrate.base.limits import LIMITS

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Plain values alone; written in C, which is ten times as fast, where the machine has that."""


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file of keys and values.

    Raises:
        ParameterError: names the file and what is wrong, with its key or line.
    """
    try:
        if why := refusal(path, LIMITS.text):
            raise ParameterError(why, where=(path,), hint="Restore it from the repository")
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise ParameterError(
            f"cannot be read ({error.strerror or error})",
            where=(path,),
            hint="Restore it from the repository",
        ) from error
    except UnicodeDecodeError as error:
        raise ParameterError(
            f"not UTF-8 (byte {error.start})", where=(path,), hint="Save the file as UTF-8"
        ) from error
    found = deepcopy(_parsed(text, str(path)))
    if not isinstance(found, dict):
        raise ParameterError("holds no keys and values", where=(path,), hint="Restore it from the repository")
    return found


@lru_cache(maxsize=4)
def _parsed(text: str, path: str) -> Any:
    """The value of a file's text; every stage and check of a run reads the same parameters."""
    return parse_yaml(text, path)


def parse_yaml(text: str, *where: str) -> Any:
    """The value that YAML stands for.

    >>> parse_yaml("{a: 1, b: [x, 2.5]}", "params.yaml")
    {'a': 1, 'b': ['x', 2.5]}
    >>> parse_yaml("seed: 1\\nseed: 2", "params.yaml")
    Traceback (most recent call last):
    substrate.base.errors.ParameterError: params.yaml: seed: occurs twice (line 2). Keep one of the two.

    Raises:
        ParameterError: not YAML, a key occurs twice, an alias (a few of which can stand for gigabytes), a
            number that is not finite, a lone surrogate, or more levels than :data:`LIMITS` allow.
    """
    try:
        _require_plain(text, where)
        node = yaml.compose(text, Loader=LOADER)
        _require_distinct(node, "", where)
        value = yaml.load(text, Loader=LOADER)  # a safe loader, whichever of the two it is
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        what = " ".join(str(error).split())
        raise ParameterError(
            f"not YAML ({what})", where=where, hint="Quote the value, or restore the file"
        ) from error
    for key, found in _leaves(value, ""):
        if isinstance(found, float) and not math.isfinite(found):
            raise _refused(f"{found} is not finite", where, key, "Give a measured value, or null")
        if isinstance(found, str) and any("\ud800" <= letter <= "\udfff" for letter in found):
            raise _refused("has half of a surrogate pair", where, key, "Write the character itself")
        if isinstance(found, int) and abs(found) > 2**63 - 1:
            raise _refused("is too large a number", where, key, "Give one of at most 18 digits")
    return value


def _refused(what: str, where: tuple[str, ...], key: str, hint: str) -> ParameterError:
    return ParameterError(what, where=(*where, key), hint=hint)


def _require_plain(text: str, where: tuple[str, ...]) -> None:
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        line = f"line {event.start_mark.line + 1 if event.start_mark else '?'}"
        if isinstance(event, yaml.AliasEvent):
            raise _refused(
                f"*{event.anchor} stands for something else",
                where,
                line,
                "Write the value out: aliases are refused",
            )
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > LIMITS.depth:
            raise _refused(f"nests more than {LIMITS.depth} deep", where, line, "Write it flatter")


def _require_distinct(node: yaml.Node | None, path: str, where: tuple[str, ...]) -> None:
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _require_distinct(item, f"{path}[{index}]", where)
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, item in node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else f"line {key.start_mark.line + 1}"
            here = f"{path}.{name}" if path else name
            if not isinstance(key, yaml.ScalarNode) or not key.tag.endswith(":str"):
                raise _refused("a key is no word", where, here, "Write KEY: VALUE")
            if name in seen:
                line = key.start_mark.line + 1
                raise _refused(f"occurs twice (line {line})", where, here, "Keep one of the two")
            seen.add(name)
            _require_distinct(item, here, where)


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The values at the ends of nested settings, with their dotted keys; the keys themselves too."""
    if isinstance(value, dict):
        for key, item in value.items():
            here = f"{path}.{key}" if path else str(key)
            yield path, key
            yield from _leaves(item, here)
    elif isinstance(value, list | set | tuple):
        for index, item in enumerate(value):
            yield from _leaves(item, f"{path}[{index}]")
    else:
        yield path, value
