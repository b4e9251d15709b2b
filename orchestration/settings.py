"""`params.yaml`, typed: what every stage of a run is parametrised by."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from orchestration.base.yaml_text import parse_yaml, read_yaml
from substrate.base.errors import ParameterError

PARAMETERS_FILE = "params.yaml"
REAL = "SUBSTRATE_REAL"
"""The variable that names the folder of official files, before `real.folder` does."""
T = TypeVar("T")
Size = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
Seed = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
_Cut = Annotated[int, msgspec.Meta(ge=1, le=10**6)]


def _about(text: str) -> msgspec.Meta:
    """The words of the launch form of the UI about a key."""
    return msgspec.Meta(description=text)


class Spark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The place where Spark runs and the cut of the work; no byte of a result depends on any of it."""

    master: str = "local[*,4]"
    partitions: Annotated[
        _Cut, _about("The least number of shards of a table with more cases than that.")
    ] = 8
    shard: Annotated[_Cut, _about("The largest number of cases of a shard, which a task computes.")] = 1000
    config: dict[str, str | int | float | bool] = {}
    """Any keys of Spark's own configuration."""

    def cut(self, cases: int) -> int:
        """The number of cases of each shard of a table of so many.

        >>> [Spark().cut(cases) for cases in (0, 3, 200, 20_000)]
        [1, 1, 25, 1000]
        """
        return max(1, min(self.shard, -(-cases // self.partitions)))


class RealFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An official file or folder of the profile `real`: the SHA-256 of what it holds, unpacked, and where it
    comes from.
    """

    sha256: str
    licence: str
    source: str
    get: str
    """The command, or the page, that gets it."""


class Real(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The official files that the profile `real` is measured on, by name in their folder."""

    folder: str | None = None
    files: dict[str, RealFile] = {}


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All of `params.yaml`; what belongs to a benchmark is added by :func:`settings_type`."""

    profile: str
    """The profile, which names the data."""
    seed: Annotated[Seed, _about("The seed of every generated world.")]
    profiles: dict[str, Any]
    spark: Spark = Spark()
    real: Real = Real()
    storage: str | None = None
    """A URI that the driver and Spark's workers reach, for tables; the project folder unless given."""

    def of(self, key: str) -> Any:
        """The part of a benchmark's parameters."""
        return getattr(self, key)

    def data(self, benchmark: str) -> Any:
        """The data of a benchmark in the profile in force."""
        profile = self.profiles[self.profile]
        return getattr(profile, benchmark).among(profile)


def settings_type(parameters: Mapping[str, type[Any]], data: Mapping[str, type[Any]]) -> type[Settings]:
    """The type of `params.yaml` for some benchmarks.

    Args:
        parameters: the types of the parts that hold parameters, by key.
        data: by benchmark, the type of its data in a profile; a profile may leave any out.
    """
    fields = [(name, type_, type_()) for name, type_ in data.items()]
    profile = msgspec.defstruct("Profile", fields, frozen=True, forbid_unknown_fields=True, kw_only=True)
    own: list[Any] = [(key, type_, type_()) for key, type_ in parameters.items()]
    own.append(("profiles", dict[str, profile]))
    # A struct that extends Settings is one; the library's types do not say so.
    return msgspec.defstruct(  # pyright: ignore[reportReturnType]
        "Settings", own, bases=(Settings,), frozen=True, forbid_unknown_fields=True, kw_only=True
    )


def load_settings(
    path: Path,
    type_: type[Settings],
    overrides: Iterable[str] = (),
    profile: str | None = None,
    absent: Collection[str] = (),
) -> Settings:
    """Settings from a file, with ``KEY=VALUE`` overrides on top.

    Args:
        absent: benchmarks and studies that are not installed, whose keys are passed over.

    Raises:
        ParameterError: the file is not YAML, a key is unknown or there twice, or a value is out of its range.
    """
    raw = without(override(read_parameters(path), overrides), absent)
    if profile:
        raw["profile"] = profile
    profiles = raw.get("profiles")
    of_profile = type_.__annotations__["profiles"].__args__[1]
    for name, given in profiles.items() if isinstance(profiles, dict) else ():
        convert(given, of_profile, str(path), f"profiles.{name}")  # an error of the whole would not name it
    settings = convert(raw, type_, str(path))
    if settings.profile not in settings.profiles:
        hint = f"Choose one of {', '.join(settings.profiles)}"
        raise ParameterError(f"no profile {settings.profile!r}", where=(path,), hint=hint)
    return settings


def without(raw: dict[str, Any], absent: Collection[str]) -> dict[str, Any]:
    """Untyped settings without the keys of some benchmarks and studies: alone, in profiles, among baselines.

    >>> without({"seed": 20, "village": {}, "profiles": {"sample": {"village": 3}}}, ["village"])
    {'seed': 20, 'profiles': {'sample': {}}}
    """

    def kept(values: Any) -> Any:
        return (
            {key: value for key, value in values.items() if key not in absent}
            if isinstance(values, dict)
            else values
        )

    rest = kept(raw)
    for key in ("profiles", "baselines"):
        if isinstance(inner := kept(rest.get(key)), dict):
            rest[key] = {name: kept(value) for name, value in inner.items()}
    return rest


def read_parameters(path: Path) -> dict[str, Any]:
    """A file of parameters as it is written, with each key in it that can be set.

    Raises:
        ParameterError: the file is not YAML, or a key is there twice.
    """
    raw = read_yaml(path)
    # Where it runs may be set from outside though the file leaves it at what it is by default.
    spark = raw.get("spark") or {}
    if isinstance(spark, dict):
        raw["spark"] = msgspec.to_builtins(Spark()) | spark
    raw.setdefault("storage", None)
    return raw


def parameters_of(section: tuple[str, type[Any], *tuple[Any, ...]], overrides: Iterable[str]) -> Any:
    """The parameters of a section outside a project: the defaults, with ``KEY=VALUE`` overrides.

    A section without a key has none: they are ``None``.

    >>> parameters_of(("spark", Spark), ["spark.partitions=2"]).partitions
    2
    """
    key, type_, *_ = section
    if not key:
        return None
    return convert(override({key: msgspec.to_builtins(type_())}, overrides)[key], type_, "--set", key)


def override(raw: dict[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
    """A copy of nested settings with ``a.b=VALUE`` applied; values are YAML.

    Raises:
        ParameterError: an override is not ``KEY=VALUE``, or names a key that is not there.
    """
    copy = msgspec.json.decode(msgspec.json.encode(raw))
    for text in overrides:
        key, equals, value = text.partition("=")
        *folders, leaf = key.strip().split(".")
        place = copy
        for folder in folders:
            place = place.get(folder) if isinstance(place, dict) else None
        if not equals or not isinstance(place, dict) or leaf not in place:
            raise ParameterError(
                f"cannot set {text!r}",
                where=("--set",),
                hint=f"Write KEY=VALUE with a key of {PARAMETERS_FILE}, such as seed=1",
            )
        place[leaf] = parse_yaml(value, "--set", key)
    return copy


def value_at(settings: Settings, key: str) -> Any:
    """The value of a dotted key as JSON gives it back, so that one that was kept equals one that is set."""
    value: Any = msgspec.to_builtins(settings)
    for part in key.split("."):
        value = value[part]
    return msgspec.json.decode(msgspec.json.encode(value, order="sorted"))


def flattened(parameters: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested parameters by dotted key.

    >>> flattened({"meadow": {"spring": {"tau": 0.4}}, "seed": 20})
    {'meadow.spring.tau': 0.4, 'seed': 20}
    """
    flat: dict[str, Any] = {}
    for key, value in parameters.items():
        flat |= (
            flattened(value, f"{prefix}{key}.")
            if isinstance(value, dict) and value
            else {prefix + key: value}
        )
    return flat


def convert(raw: Any, type_: type[T], *where: str) -> T:
    """Untyped settings as a typed structure; the error names the key."""
    try:
        return msgspec.convert(raw, type_)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at ")
        raise ParameterError(
            what + _not_this(raw, what, path),
            where=(*where, path.strip("`").replace("$.", "")),
            hint="Compare with the comments in params.yaml",
        ) from error


def _not_this(raw: Any, what: str, path: str) -> str:
    """The value that is out of its range, where the error is of a range and its path leads to the value.

    >>> _not_this({"tau": [0.4, -1]}, "Expected `float` > 0", "`$.tau[1]`")
    ', not -1'
    """
    if ", got " in what or not what.startswith("Expected"):
        return ""
    try:
        for key in re.findall(r"[^$.\[\]`]+", path):
            raw = raw[int(key) if isinstance(raw, list) else key]
    except (LookupError, TypeError):  # msgspec writes `[...]` for the key of a dictionary
        return ""
    return f", not {raw!r}" if isinstance(raw, str | int | float) else ""
