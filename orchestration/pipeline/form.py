"""The launch form of the UI: what a run can be told, typed and documented by the settings' own types.

Dagster's server holds a form against this schema before anything is launched. What a schema cannot say, such
as a range, is judged when the run is planned, which is before there is a run too.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import dagster as dg
import msgspec.inspect as types
import yaml
from dagster._core.errors import DagsterUserCodeProcessError
from dagster_shared.error import SerializableErrorInfo

from orchestration.pipeline.resources import WorkspaceResource
from orchestration.project import SETTINGS
from orchestration.registry import MAIN
from orchestration.settings import PARAMETERS_FILE, read_parameters
from orchestration.workspace.root import find_root
from substrate.base.errors import ParameterError

SHORT = {
    "seed": "seed",
    "scenes": f"profiles.{{profile}}.{MAIN.source.name}.scenes",
    "configuration": f"{MAIN.parameters.key}.predictive.configuration",
}
"""The settings with a place of their own in the form; a key of ``params.yaml`` for each."""
EMPTY: dict[str, object] = {**dict.fromkeys(SHORT), "set": {}, "experiment": None, "force": False}
"""A form that changes nothing: every value is the one of ``params.yaml``."""


class Key(NamedTuple):
    """A key of ``params.yaml`` that can be set.

    Attributes:
        name: with dots, as ``--set`` takes it.
        type: what msgspec knows of its values.
        about: what the settings' class says about it.
        value: what the file has.
    """

    name: str
    type: types.Type
    about: str
    value: Any


def _keys(type_: types.Type, value: Any, name: str, about: str) -> Iterator[Key]:
    if isinstance(type_, types.StructType) and isinstance(value, dict):
        for field in type_.fields:
            if field.encode_name in value:
                below = f"{name}.{field.encode_name}".lstrip(".")
                yield from _keys(field.type, value[field.encode_name], below, _about(type_.cls, field.name))
    elif isinstance(type_, types.DictType) and isinstance(type_.value_type, types.StructType):
        for key, item in value.items():
            yield from _keys(type_.value_type, item, f"{name}.{key}", about)
    else:
        yield Key(name, type_, about, value)


def _about(class_: type, field: str) -> str:
    """The description of a field: the string below it in its class, else what the class is."""
    found = (_documented(declared).get(field) for declared in class_.__mro__)
    text = next(filter(None, found), None) or inspect.cleandoc(class_.__doc__ or "")
    return text.replace("``", "`")


@cache
def _documented(class_: type) -> dict[str, str]:
    """The strings below the fields of a class, which Python itself forgets; none where it has no text."""
    tree = _classes(class_.__module__).get(class_.__qualname__)
    found: dict[str, str] = {}
    for statement, below in pairwise(tree.body if tree else []):
        match statement, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = inspect.cleandoc(text)
    return found


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    """The classes of a module as they are written; none where it has no text."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError, LookupError):
        return {}
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _known(path: Path) -> tuple[Mapping[str, Any], Mapping[str, Key]]:
    """The parameters of a file and their keys, which every job of the definitions asks for."""
    try:
        data = path.read_bytes()
    except OSError:
        data = b""  # whoever parses it says why it cannot be read
    return _parsed(path, data)


@lru_cache(maxsize=1)
def _parsed(path: Path, _: bytes) -> tuple[Mapping[str, Any], Mapping[str, Key]]:
    raw = read_parameters(path)
    keys = _keys(types.type_info(SETTINGS), raw, "", "")
    # The form asks for the profile by itself.
    return raw, {key.name: key for key in keys if key.name != "profile"}


def form_of(path: Path, takes: Iterable[str] | None = None) -> dict[str, dg.Field]:
    """The fields of the form for a file of parameters.

    Args:
        path: the file.
        takes: the keys that a run's stages take, with ``{profile}`` for each of the file's; all unless given.

    Raises:
        ParameterError: the file cannot be read as parameters.
    """
    raw, keys, short = _offered(path, takes)
    about = {
        name: f"{SHORT[name]}; null: as in {PARAMETERS_FILE}. {_limits(key)}{key.about}"
        for name, key in short.items()
    }
    of_set = {
        name: f"{_limits(key)}{key.about}\n\nIn {PARAMETERS_FILE}: {_text(key.value)}"
        for name, key in keys.items()
    }
    set_ = {name: _optional(_config_type(key.type), of_set[name]) for name, key in keys.items()}
    named = "The name of the experiment that other values make; made from them unless given."
    forced = "Run every stage, although nothing it depends on has changed."
    return {
        "profile": _optional(_choice(raw["profiles"]), f"Which data; {raw['profile']} unless it is given."),
        **{name: _optional(dg.Noneable(_config_type(key.type)), about[name]) for name, key in short.items()},
        "set": _optional(set_, f"Other values than those of {PARAMETERS_FILE}, by key."),
        "overrides": _optional([str], "The same as text: KEY=VALUE, as `--set` of the command takes it."),
        "experiment": _optional(dg.Noneable(str), named),
        "force": dg.Field(bool, is_required=False, default_value=False, description=forced),
    }


def _offered(
    path: Path, takes: Iterable[str] | None
) -> tuple[Mapping[str, Any], Mapping[str, Key], Mapping[str, Key]]:
    """The parameters of a file, their keys that a run's stages take, and those with a place of their own."""
    raw, known = _known(path)
    taken = tuple(
        f"{key.format(profile=one)}." for key in (*_OF_ALL, *(takes or ())) for one in raw["profiles"]
    )
    keys = {name: key for name, key in known.items() if takes is None or f"{name}.".startswith(taken)}
    return raw, keys, {name: key for name, template in SHORT.items() if (key := _first(keys, template, raw))}


_OF_ALL = ("spark", "storage")
"""The keys that any run has a use for."""


def form_of_job(profile: str, takes: Iterable[str] | None = None) -> dict[str, Any]:
    """The form that a job opens with: a profile, and fields that its stages take, with nothing set in them.

    The launchpad shows what a job is configured with: it leaves out of a schema's defaults what is null.

    Args:
        profile: the one that stands in it.
        takes: the keys that its stages take; all unless given.
    """
    *_, short = _offered(find_root() / PARAMETERS_FILE, takes)
    empty = {name: value for name, value in EMPTY.items() if name in short or name not in SHORT}
    filled = {"profile": profile, **empty}
    return {"resources": {"workspace": {"config": filled}}}


def _optional(type_: Any, about: str) -> dg.Field:
    return dg.Field(type_, is_required=False, description=about)


def _first(keys: Mapping[str, Key], template: str, raw: Mapping[str, Any]) -> Key | None:
    """The key of the profile in force, else of the first profile that has it."""
    names = (template.format(profile=profile) for profile in (raw["profile"], *raw["profiles"]))
    return next((keys[name] for name in names if name in keys), None)


def _config_type(type_: types.Type) -> Any:
    """The schema of a type, as far as Dagster's can say it."""
    if isinstance(type_, types.UnionType):
        inner = [one for one in type_.types if not isinstance(one, types.NoneType)]
        if len(inner) == 1:
            return dg.Noneable(_config_type(inner[0]))
    if isinstance(type_, types.LiteralType):
        return _choice(map(str, type_.values))
    if isinstance(type_, types.DictType):
        return dg.Map(str, dg.Any)
    plain = {types.BoolType: bool, types.IntType: int, types.FloatType: float, types.StrType: str}
    return plain.get(type(type_), dg.Any)


def _choice(values: Iterable[str]) -> dg.Enum:
    """A choice, which the form shows by its name: so its name is what there is to choose."""
    given = list(values)
    return dg.Enum(" | ".join(given), [dg.EnumValue(value) for value in given])


def _limits(key: Key) -> str:
    """The range of a number, which no schema of Dagster's can hold, in words.

    >>> _limits(Key("n", types.IntType(ge=1, le=9), "", 5))
    'At least 1, at most 9. '
    """
    words = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    limits: list[str] = []
    for one in key.type.types if isinstance(key.type, types.UnionType) else (key.type,):
        for bound, word in words.items():
            limit = getattr(one, bound, None)
            if limit is not None:
                limits.append(f"{word} {limit:,}".removesuffix(".0"))
    return f"{', '.join(limits).capitalize()}. " if limits else ""


def _text(value: Any) -> str:
    """A value in the YAML of one line.

    >>> [_text(value) for value in (1e-7, "B", "true", None, {"a": [1]})]
    ['1.0e-07', 'B', "'true'", 'null', '{a: [1]}']
    """
    line = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=float("inf"))
    return line.removesuffix("...\n").rstrip()


def overrides_of(form: Mapping[str, Any], path: Path) -> list[str]:
    """The settings of a form that differ from the file, as ``KEY=VALUE``; a value that the file has is no
    override.

    Raises:
        ParameterError: the form sets a key in two places, or one that the file has not.
    """
    raw, keys = _known(path)
    profile = form.get("profile") or raw["profile"]
    given: dict[str, Any] = dict(form.get("set", {}))
    for name, template in SHORT.items():
        key = template.format(profile=profile)
        if form.get(name) is None:
            continue
        if key in given:
            raise ParameterError("is set twice", where=(name, key), hint="Set it in one place of the form")
        given[key] = form[name]
    changed: list[str] = []
    for key in sorted(given):  # Dagster hands the keys over in no order
        if key not in keys:
            hint = f"Take a key that {PARAMETERS_FILE} has; the profile here is {profile}"
            raise ParameterError("cannot be set", where=(path, key), hint=hint)
        if given[key] != keys[key].value:
            changed.append(f"{key}={_text(given[key])}")
    return [*changed, *form.get("overrides", [])]


def form_resource() -> dg.ResourceDefinition:
    """The workspace of a run, as the form describes it.

    Raises:
        ParameterError: the project's parameters cannot be read.
    """
    plain = WorkspaceResource.configure_at_launch().get_resource_definition()
    return dg.configured(plain, config_schema=form_of(find_root() / PARAMETERS_FILE))(judged)


def judged(form: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run from a form, once all of it holds together.

    Raises:
        DagsterInvalidConfigError: a key is unknown or set twice, or a value is out of its range.
    """
    try:
        told = {
            "profile": form.get("profile", ""),
            "overrides": overrides_of(form, find_root() / PARAMETERS_FILE),
            "experiment": form.get("experiment") or "",
            "force": form["force"],
        }
        WorkspaceResource(**told).open()
    except ParameterError as error:
        raise FormError(str(error), form) from None
    return told


class FormError(dg.DagsterInvalidConfigError, DagsterUserCodeProcessError):
    """A form that was refused: the sentence reaches the page, and no traceback of this code.

    Args:
        said: what is wrong, and what to do.
        form: what was given.
    """

    def __init__(self, said: str, form: object) -> None:
        shown = [SerializableErrorInfo(said, [], "ParameterError")]
        super().__init__(said, [], form, user_code_process_error_infos=shown)
