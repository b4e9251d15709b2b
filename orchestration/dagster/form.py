"""The launch form of the UI: the settings of a run that is started there.

The form is made from the settings' types. It offers a key if its values are numbers, booleans, or words of a
fixed list. It offers no free text, which could name a program, a path, an address or an option of Java.
Dagster checks the form against the schema before it creates a run. Its schemas cannot express ranges; these
are checked when the run is planned, also before the run exists.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import dagster as dg
import msgspec
import msgspec.inspect as types

from orchestration.base.yaml_text import parse_yaml
from orchestration.dagster.resources import WorkspaceResource
from orchestration.project import SETTINGS
from orchestration.settings import PARAMETERS_FILE, find_root, read_parameters
from substrate.base.errors import ParameterError

_PLAIN = {types.BoolType: bool, types.IntType: int, types.FloatType: float}
_LIMITS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


class FormError(dg.DagsterInvalidConfigError):
    """A rejected form, with the fault and the remedy."""


class _Key(NamedTuple):
    """A key that the form can set: its dotted name, its field in the form, and its value in the file."""

    name: str
    field: dg.Field
    value: Any


def _keys(type_: types.Type, value: Any, name: str, about: str) -> Iterator[_Key]:
    """Yield the keys that a form can set, of a value of the file at a dotted name."""
    if isinstance(type_, types.Metadata):
        about = (type_.extra_json_schema or {}).get("description", about)
        type_ = type_.type
    if isinstance(type_, types.StructType) and isinstance(value, dict):
        about = inspect.cleandoc(type_.cls.__doc__ or "").replace("``", "`")
        for field in type_.fields:
            if field.encode_name in value:
                below = f"{name}.{field.encode_name}".lstrip(".")
                yield from _keys(field.type, value[field.encode_name], below, about)
    elif isinstance(type_, types.DictType) and isinstance(type_.value_type, types.StructType):
        for key, item in value.items():
            yield from _keys(type_.value_type, item, f"{name}.{key}", about)
    elif schema := _schema(type_):
        about = f"{_limits(type_)}{about}\n\nIn {PARAMETERS_FILE}: {_text(value)}"
        yield _Key(name, _optional(schema, about), value)


def _schema(type_: types.Type) -> Any:
    """Return Dagster's schema of a type; ``None`` for a type that admits any text."""
    match type_:
        case types.UnionType(types=(one, types.NoneType())):
            inner = _schema(one)
            return inner and dg.Noneable(inner)
        case types.LiteralType(values=values):
            return _choice(map(str, values))
        case types.TupleType(item_types=(item, *_)) | types.VarTupleType(item_type=item):
            inner = _schema(item)
            return inner and [inner]
    return _PLAIN.get(type(type_))


def _choice(values: Iterable[str]) -> dg.Enum:
    """Make a choice between values; the form shows its name, so the name lists the values."""
    given = list(values)
    return dg.Enum(" | ".join(given), [dg.EnumValue(value) for value in given])


def _limits(type_: types.Type) -> str:
    """Describe the range of a number in words.

    >>> _limits(types.IntType(ge=1, le=9))
    'At least 1, at most 9. '
    """
    limits: list[str] = []
    for member in type_.types if isinstance(type_, types.UnionType) else (type_,):
        for bound, word in _LIMITS.items():
            if (limit := getattr(member, bound, None)) is not None:
                limits.append(f"{word} {limit:,}".removesuffix(".0"))
    return f"{', '.join(limits).capitalize()}. " if limits else ""


def _known(path: Path) -> tuple[Mapping[str, Any], Mapping[str, _Key]]:
    """Read the parameters of a file, and the keys that the form can set, by name."""
    raw = read_parameters(path)
    return raw, {key.name: key for key in _keys(types.type_info(SETTINGS), raw, "", "")}


def form_of(path: Path) -> dict[str, dg.Field]:
    """Return the fields of the form for a parameter file.

    Raises:
        ParameterError: the file cannot be read as parameters.
    """
    raw, keys = _known(path)
    set_ = {name: key.field for name, key in keys.items()}
    named = "The name of the experiment that other values make; made from them unless given."
    forced = "Run every stage, although nothing it depends on has changed."
    return {
        "profile": _optional(_choice(raw["profiles"]), f"Which data; {raw['profile']} unless it is given."),
        "set": _optional(set_, f"Values that replace values of {PARAMETERS_FILE}, by key."),
        "experiment": _optional(dg.Noneable(str), named),
        "force": dg.Field(bool, is_required=False, default_value=False, description=forced),
    }


def _optional(type_: Any, about: str) -> dg.Field:
    return dg.Field(type_, is_required=False, description=about)


def form_of_job(profile: str) -> dict[str, Any]:
    """Return the initial form of a job, which sets only the profile: all else is as in ``params.yaml``."""
    form = {"profile": profile, "set": {}, "experiment": None, "force": False}
    return {"resources": {"workspace": {"config": form}}}


def _text(value: Any) -> str:
    """Format a value as YAML 1.2: a word as it is, and all else as JSON, which is YAML too.

    >>> [_text(value) for value in (1e-7, "B", "true", None, {"a": [1]}, "1e5")]
    ['1e-7', 'B', '"true"', 'null', '{"a":[1]}', '"1e5"']
    """
    if isinstance(value, str) and value.isidentifier() and parse_yaml(value) == value:
        return value
    return msgspec.json.encode(value).decode()


def overrides_of(form: Mapping[str, Any], path: Path) -> list[str]:
    """Return the settings of a form that differ from the file, as ``KEY=VALUE``.

    Raises:
        ParameterError: the form sets a key that it does not offer.
    """
    raw, keys = _known(path)
    given: Mapping[str, Any] = form.get("set", {})
    for key in sorted(given.keys() - keys.keys()):
        profile = form.get("profile") or raw["profile"]
        hint = f"Take a key that the form offers for profile {profile}; others are set in {PARAMETERS_FILE}"
        raise ParameterError("cannot be set here", where=(path, key), hint=hint)
    # Dagster passes the keys in no fixed order.
    return [f"{key}={_text(given[key])}" for key in sorted(given) if given[key] != keys[key].value]


def form_resource() -> dg.ResourceDefinition:
    """Make the resource for the workspace that the form describes.

    Raises:
        ParameterError: the project's parameters cannot be read.
    """
    plain = WorkspaceResource.configure_at_launch().get_resource_definition()
    return dg.configured(plain, config_schema=form_of(find_root() / PARAMETERS_FILE))(judged)


def judged(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a run from a form, once the whole form is valid.

    The server calls this before it creates a run; the run calls it again when it begins.

    Raises:
        FormError: a key is unknown, or a value is out of its range.
    """
    path = find_root() / PARAMETERS_FILE
    try:
        config = {
            "profile": form.get("profile", ""),
            "overrides": overrides_of(form, path),
            "experiment": form.get("experiment") or "",
            "force": form["force"],
            "settles": True,
        }
        WorkspaceResource(**config).open()
    except ParameterError as error:
        # The error must point to the form, not to the file or the command.
        fields = {str(path): "", "--name": "experiment", "--set": "set", "--profile": "profile"}
        where = [fields.get(part, part) for part in error.where]
        fault = ParameterError(error.what, where=tuple(where), hint=error.hint)
        raise FormError(str(fault), [], form) from None
    return config
