"""YAML 1.2 for parameters, as DVC reads and writes it: plain values, unique keys, no aliases."""

from __future__ import annotations

import math
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML, YAMLError
from ruamel.yaml.composer import Composer
from ruamel.yaml.events import AliasEvent, CollectionStartEvent
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from substrate.base.errors import ParameterError
from substrate.base.inputs import refusal
from substrate.base.limits import LIMITS


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML file of keys and values.

    Raises:
        ParameterError: names the file and the fault, with its key or line.
    """
    hint, why, mapping = "Restore it from the repository", refusal(path, LIMITS.text), None
    try:
        mapping = None if why else deepcopy(_parsed(path.read_bytes().decode("utf-8"), str(path)))
    except OSError as error:
        why = f"cannot be read ({error.strerror or error})"
    except UnicodeDecodeError as error:
        why, hint = f"not UTF-8 (byte {error.start})", "Save the file as UTF-8"
    if not isinstance(mapping, dict):
        raise ParameterError(why or "holds no keys and values", where=(path,), hint=hint)
    return mapping


@lru_cache(maxsize=4)
def _parsed(text: str, path: str) -> Any:
    """Parse a file's text, cached: every stage and check of a run reads the same parameters."""
    return parse_yaml(text, path)


def parse_yaml(text: str, *where: str) -> Any:
    """Parse a YAML text.

    >>> parse_yaml("{a: 1, b: [x, 2.5]}", "params.yaml")
    {'a': 1, 'b': ['x', 2.5]}
    >>> parse_yaml("seed: 1\\nseed: 2", "params.yaml")
    Traceback (most recent call last):
    substrate.base.errors.ParameterError: params.yaml: seed: occurs twice (line 2). Keep one of the two.

    Raises:
        ParameterError: the text is not YAML; or has a repeated key, an alias (a few can expand to gigabytes),
            a number that is not finite, a lone surrogate, or more levels than :data:`LIMITS` allow.
    """
    reader = YAML(typ="safe", pure=True)
    reader.Composer = _PlainComposer
    try:
        node = reader.compose(text)
        return None if node is None else _value(reader.constructor, node, "")
    except ParameterError as error:
        raise error.within(*where) from error
    # The reader raises errors of Python for a value that does not fit its tag.
    except (YAMLError, AttributeError, LookupError, ValueError, ArithmeticError, RecursionError) as error:
        what = " ".join(str(error).split())
        hint = "Quote the value, or restore the file"
        raise ParameterError(f"not YAML ({what})", where=where, hint=hint) from error


class _PlainComposer(Composer):
    """Refuses an alias, and a level too many, where it meets them."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.parser.peek_event()
        line = f"line {event.start_mark.line + 1}"
        if isinstance(event, AliasEvent):
            hint = "Write the value itself: aliases are refused"
            raise ParameterError(f"*{event.anchor} is an alias", where=(line,), hint=hint)
        if isinstance(event, CollectionStartEvent) and self.depth == LIMITS.depth:
            what = f"nests more than {LIMITS.depth} deep"
            raise ParameterError(what, where=(line,), hint="Write it flatter")
        return super().compose_node(parent, index)


def _value(constructor: Any, node: Any, path: str) -> Any:
    """The value of a node at a dotted path."""
    if isinstance(node, SequenceNode) and node.tag.endswith(":seq"):
        return [_value(constructor, item, f"{path}[{index}]") for index, item in enumerate(node.value)]
    if isinstance(node, MappingNode) and node.tag.endswith(":map"):
        mapping: dict[str, Any] = {}
        for key, item in node.value:
            line = f"line {key.start_mark.line + 1}"
            name = str(key.value) if isinstance(key, ScalarNode) else line
            here = f"{path}.{name}" if path else name
            if not isinstance(key, ScalarNode) or not key.tag.endswith(":str"):
                raise ParameterError("the key is not a string", where=(here,), hint="Write KEY: VALUE")
            if name in mapping:
                raise ParameterError(f"occurs twice ({line})", where=(here,), hint="Keep one of the two")
            _require_whole(name, path)
            mapping[name] = _value(constructor, item, here)
        return mapping
    value = constructor.construct_object(node, deep=True)
    if isinstance(value, float) and not math.isfinite(value):
        raise ParameterError(f"{value} is not finite", where=(path,), hint="Give a measured value, or null")
    if isinstance(value, int) and abs(value) > 2**63 - 1:
        raise ParameterError("is too large a number", where=(path,), hint="Give one of at most 18 digits")
    _require_whole(value, path)
    return value


def _require_whole(value: Any, path: str) -> None:
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ParameterError("has half of a surrogate pair", where=(path,), hint="Write the character itself")
