"""A tool that a model can call: a function whose arguments and docstring are declared as JSON Schema.

This module knows neither a memory nor a protocol. It has the descriptions of all arguments, and the type of a
moment, which JSON cannot carry.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Annotated, Any, get_type_hints

import msgspec
from msgspec import Meta

from substrate.base.errors import ParameterError
from substrate.base.times import read_instant

Reply = dict[str, Any]
Moment = int | Annotated[str, Meta(extra_json_schema={"format": "date-time"})] | None
"""A moment in the arguments of a call; :func:`read_moment` reads it."""
Tick = int | None
Cursor = Annotated[int, Meta(ge=0)] | None


def _described(about: str, *examples: Any) -> Meta:
    return Meta(description=about, examples=list(examples))


_OBJECT = 'A text, kept to the letter; a number; <IRI> or {"thing": "paris"} for a thing.'
_CHANGED_AT = "The tick of the change; by default after the retracted fact began, else the next."
_MOMENT = _described("A moment of the world: a tick, or a time with its zone.", "2026-03-01T09:00:00Z")
ARGUMENTS: Mapping[str, Meta] = {
    "subject": _described("The thing that the fact is about.", "ann"),
    "predicate": _described("The relation or property.", "lives in"),
    "object": _described(_OBJECT, "gold", 7, {"thing": "paris"}, "<https://example.org/paris>"),
    "agent": _described("Who knows.", "ann"),
    "fact": _described("The name of the thing that is known, or a triple <<( … )>>.", "the party"),
    "told_by": _described("From whom.", "ben"),
    "author": _described("Who says so.", "support desk"),
    "source": _described("Where it was taken from.", "ticket 4711"),
    "because": _described("The `record` of a reply on which this rests.", "<urn:…>"),
    "instead_of": _described("The value that was wrong, as `recall` shows it.", "paris"),
    "tick": _described("As of this tick of recording; the present unless given.", 12),
    "at": _MOMENT,
    "valid_from": _MOMENT,
    "valid_until": _MOMENT,
    "cursor": _described("The `next_cursor` of the last reply, for its next page.", 40),
    "sparql": _described("The query.", "SELECT ?who { ?who <urn:memory:likes> ?what }"),
    "change": _described("The change to imagine.", "retract"),
    "what_if.predicate": _described("The relation; needed by `assert` and `retract` alone.", "lives in"),
    "what_if.at": _described(_CHANGED_AT, 12),
}
"""The description and examples of each tool argument, by name, or by TOOL.NAME where a tool differs."""


class Tool:
    """A tool, which takes its name, description and arguments from a function.

    The function's first parameter is the memory; a model gives the others. ``writes`` is true if the tool
    changes the log.
    """

    def __init__(self, run: Callable[..., Reply], *, writes: bool = False) -> None:
        self.run, self.name, self.writes = run, run.__name__, writes

    @cached_property
    def arguments(self) -> type[msgspec.Struct]:
        """The type of the arguments, which checks a call."""
        types, fields = get_type_hints(self.run, include_extras=True), list[Any]()
        for name, given in islice(inspect.signature(self.run).parameters.items(), 1, None):
            about = ARGUMENTS.get(f"{self.name}.{name}") or ARGUMENTS[name]
            default = () if given.default is given.empty else (given.default,)
            fields.append((name, Annotated[types[name], about], *default))
        return msgspec.defstruct(self.name, fields, forbid_unknown_fields=True, kw_only=True, frozen=True)

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Check the arguments of a call; return all of them, with defaults.

        Raises:
            ParameterError: an argument is missing, unknown or wrong.
        """
        try:
            return msgspec.structs.asdict(msgspec.convert(dict(given), self.arguments))
        except msgspec.ValidationError as error:
            hint = f"It takes {', '.join(self.arguments.__struct_fields__) or 'nothing'}"
            raise ParameterError(str(error).replace("Object", self.name), hint=hint) from None

    def about(self) -> str:
        """A description of the tool, for a model."""
        return re.sub(r"\s+", " ", self.run.__doc__ or "").strip()

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments, each with a description and an example.

        >>> def forget(memory: Any, subject: str) -> Reply: ...
        >>> Tool(forget).schema()["properties"]["subject"]["examples"]
        ['ann']
        """
        _, parts = msgspec.json.schema_components([self.arguments], ref_template="{name}")
        return {key: part for key, part in parts[self.name].items() if key not in ("title", "description")}


def read_moment(given: Moment, name: str) -> int | datetime | None:
    """Read a moment in the arguments of a call.

    Raises:
        ParameterError: the text is no time with a zone; names the argument.
    """
    if not isinstance(given, str):
        return given
    try:
        time = read_instant(given)
    except ValueError:
        time = None
    if time is None:
        hint = "Write it as 2026-03-01T09:00:00Z, or give a tick"
        raise ParameterError(f"{given[:60]!r} is no time with a zone", where=(name,), hint=hint)
    return time
