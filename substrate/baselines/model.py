"""Requests to a language model, and the parsing of its replies; the caller sends the requests."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, Protocol, TypeVar

import msgspec

from substrate.base.errors import SubstrateError
from substrate.base.inputs import NOT_JSON
from substrate.domains.rows import Row, graded

K = TypeVar("K")


class ReplyError(SubstrateError):
    """A model's reply does not have the requested form.

    >>> str(ReplyError("the reply is empty"))
    'the reply is empty'
    """


class Image(msgspec.Struct, frozen=True):
    """A picture by name and hash; ``data`` is empty in a replayed transcript, which does not need it."""

    name: str
    media_type: str
    sha256: str
    data: bytes = b""


class Message(msgspec.Struct, frozen=True):
    """A turn of a conversation; pictures follow the text."""

    role: Literal["system", "user", "assistant"]
    text: str
    images: tuple[Image, ...] = ()


class Request(msgspec.Struct, frozen=True):
    """A conversation, the type of the JSON reply, and the reply's largest length in tokens.

    Without a type the reply may be any text, even if it is cut off.
    """

    messages: tuple[Message, ...]
    reply: type[Any] | None
    max_tokens: int = 64

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON Schema of the reply; it has no references, because not every server resolves them."""
        return self.reply and _schema(self.reply)

    def read(self, text: str) -> Any:
        """Parse a reply; skip reasoning before it, and words or a code fence around its JSON object.

        If the reply must be one of some options, case, quotes and punctuation do not matter. A last sentence
        that ends in an option and names no other option counts as that option.

        >>> request = request_of("", "Is it red?", one_of("yes", "no"))
        >>> request.read('Sure: {"answer": "Yes"}').answer
        'yes'
        >>> request.read("<think>no…</think>It is: yes.").answer
        'yes'

        Raises:
            ReplyError: the reply cannot be read.
        """
        if self.reply is None:
            return text
        body = text.rpartition("</think>")[2]
        start, end = body.find("{"), body.rfind("}")
        try:
            return _decoder(self.reply).decode(body[start : end + 1] if 0 <= start < end else body)
        except (*NOT_JSON, UnicodeError) as error:
            options = _schema(self.reply).get("properties", {}).get("answer", {}).get("enum")
            option = options and _option(body, options)
            if not option:
                raise ReplyError(f"the model's reply is not what was asked for ({error})") from None
            return self.reply(option)


def _option(text: str, options: Sequence[str]) -> str | None:
    """The option that a reply ends in, or that its JSON object gives as the answer; else ``None``."""
    by_name = {option.casefold(): option for option in options}
    start, end = text.find("{"), text.rfind("}")
    if start >= 0:
        try:
            given = msgspec.json.decode(text[start : end + 1])["answer"]
        except (*NOT_JSON, UnicodeError, KeyError, TypeError):
            return None
        return by_name.get(given.casefold().strip(_AROUND)) if isinstance(given, str) else None
    last = re.split(r"[.!?]\s|\n", text.strip(_AROUND))[-1].casefold()
    alternatives = "|".join(map(re.escape, sorted(by_name, key=len, reverse=True)))
    named = re.findall(rf"(?<!\w)(?:{alternatives})(?!\w)", last)
    return by_name[named[0]] if len(set(named)) == 1 and last.endswith(named[0]) else None


_AROUND = " \n\t\r.!\"'`*:;,"
"""Quotes and punctuation around an answer."""


class Model(Protocol):
    """A source of replies to requests: a client of a server, a transcript, or a test."""

    def ask(self, request: Request) -> str:
        """The text of the reply, not yet parsed."""
        ...


def request_of(
    system: str, user: str, reply: type[Any], *, images: Sequence[Image] = (), max_tokens: int = 64
) -> Request:
    """A request with one instruction and one question."""
    return Request((Message("system", system), Message("user", user, tuple(images))), reply, max_tokens)


@cache
def one_of(*options: str) -> type[Any]:
    """The reply ``{"answer": …}`` with one of the options.

    >>> request_of("", "", one_of("yes", "no")).schema["properties"]
    {'answer': {'enum': ['no', 'yes']}}
    """
    return msgspec.defstruct("OneOf", [("answer", Literal[options])], frozen=True, forbid_unknown_fields=True)


class Words(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reply ``{"answer": …}`` in free words."""

    answer: str


def row_of(answer: str | ReplyError, expected: str | None, **common: Any) -> Row:
    """Make a row of an answer; an unreadable reply gives the answer ``error`` and counts as wrong.

    Args:
        answer: the model's answer, made without the gold.
        expected: the gold, if there is one.
        common: the row's other fields.
    """
    error = str(answer) if isinstance(answer, ReplyError) else None
    return graded(str(answer), expected, error, **common)  # an error replaces the answer


def answer_of(model: Model, request: Request) -> str | ReplyError:
    """The model's answer to a request whose reply has an ``answer``, or the error if it cannot be read."""
    try:
        return request.read(model.ask(request)).answer
    except ReplyError as error:
        return error


def spread(cells: Mapping[K, Any], seed: int) -> list[K]:
    """Order keys so that every prefix of the order has each cell's share of keys.

    Within a cell, a hash with the seed decides the order.

    Args:
        cells: the keys, each with its cell, such as its linkage and gold.
        seed: the seed of the hash.

    >>> spread({"a": 0, "b": 0, "c": 0, "d": 0, "e": 1, "f": 1}, seed=20)
    ['d', 'e', 'a', 'b', 'f', 'c']
    """
    members: dict[Any, list[tuple[bytes, K]]] = {}
    for key, cell in cells.items():
        drawn = hashlib.sha256(f"{seed}:{key}".encode()).digest()
        members.setdefault(cell, []).append((drawn, key))
    placed = [
        ((rank + 0.5) / len(pairs), drawn, key)
        for pairs in members.values()
        for rank, (drawn, key) in enumerate(sorted(pairs, key=lambda pair: pair[0]))
    ]
    return [key for _, _, key in sorted(placed, key=lambda entry: entry[:2])]


@cache
def _decoder(reply: type[Any]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(reply)


@cache
def _schema(reply: type[Any]) -> dict[str, Any]:
    (root,), parts = msgspec.json.schema_components([reply], ref_template="{name}")
    return _inlined(root, parts)


def _inlined(node: Any, parts: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inlined(item, parts) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inlined(parts[node["$ref"]], parts)
    return {
        key: _inlined(value, parts)
        for key, value in node.items()
        # A discriminator refers to the parts by name and adds nothing to them.
        if not (key == "title" and isinstance(value, str)) and key != "discriminator"
    }
