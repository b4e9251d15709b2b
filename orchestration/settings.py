"""`params.yaml` with types: the parameters of every stage of a run; and the folder that has the file.

The whole type, with the sections of all benchmarks, is ``SETTINGS`` in ``orchestration/project.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from orchestration.base.yaml_text import parse_yaml, read_yaml
from substrate.base.errors import ParameterError

PARAMETERS_FILE = "params.yaml"
_CHECKOUT = Path(__file__).resolve().parents[1]
# The environment variable that names the folder of official files; it overrides `real.folder`.
REAL = "SUBSTRATE_REAL"
T = TypeVar("T")
Seed = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
_Cut = Annotated[int, msgspec.Meta(ge=1, le=10**6)]


def _about(text: str) -> msgspec.Meta:
    """A description of a key, for the UI's launch form."""
    return msgspec.Meta(description=text)


def find_root() -> Path:
    """Find the project folder: the nearest parent folder with a ``params.yaml`` and a ``workspace.yaml``,
    else the folder of this code.

    Raises:
        ParameterError: there is no such folder.
    """
    here = Path.cwd()
    for folder in (here, *here.parents, _CHECKOUT):
        if all((folder / name).is_file() for name in (PARAMETERS_FILE, "workspace.yaml")):
            return folder
    hint = f"Run this inside a checkout, which has {PARAMETERS_FILE} and workspace.yaml"
    raise ParameterError("no project here", where=(here,), hint=hint)


class Spark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The place where Spark runs and the size of its tasks; no result depends on either."""

    master: str = "local[*,4]"
    partitions: Annotated[
        _Cut, _about("Into about how many shards a table is cut; more if a shard would exceed `shard`.")
    ] = 8
    shard: Annotated[_Cut, _about("The largest number of cases of a shard, which a task computes.")] = 1000
    # Any keys of Spark's configuration.
    config: dict[str, str | int | float | bool] = {}

    def cut(self, cases: int) -> int:
        """The number of cases in each shard of a table with this many cases.

        >>> [Spark().cut(cases) for cases in (0, 3, 200, 20_000)]
        [1, 1, 25, 1000]
        """
        return max(1, min(self.shard, -(-cases // self.partitions)))


class RealFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An official file or folder of the profile `real`: where it comes from, and the SHA-256 of its unpacked
    content.
    """

    sha256: str
    licence: str
    source: str
    # The command that downloads the file, or the page that offers it.
    get: str


class Real(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The official files of the profile `real`, by their names in the folder."""

    folder: str | None = None
    files: dict[str, RealFile] = {}


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """All of `params.yaml`; :func:`settings_type` adds the fields of benchmarks."""

    # The profile, which names the data.
    profile: str
    seed: Annotated[Seed, _about("The seed of every generated world.")]
    profiles: dict[str, Any]
    spark: Spark = Spark()
    real: Real = Real()
    # A URI for tables that the driver and Spark's workers reach; by default the project folder.
    storage: str | None = None

    def data(self, benchmark: str) -> Any:
        """A benchmark's data in the current profile."""
        profile = self.profiles[self.profile]
        return getattr(profile, benchmark).among(profile)


def settings_type(
    parameters: Mapping[str, type[Any]], data: Mapping[str, type[Any]], absent: Iterable[str] = ()
) -> type[Settings]:
    """The type of `params.yaml` for some benchmarks.

    Args:
        parameters: the types of the sections of parameters, by key.
        data: the type of each benchmark's data in a profile; a profile may leave out any benchmark.
        absent: benchmarks and studies that are not installed: their keys may have any value.
    """
    anything = [(name, Any, None) for name in absent]
    fields = [*((name, type_, type_()) for name, type_ in data.items()), *anything]
    profile = msgspec.defstruct("Profile", fields, frozen=True, forbid_unknown_fields=True, kw_only=True)
    sections = ((key, type_, type_()) for key, type_ in parameters.items())
    own: list[Any] = [*sections, *anything, ("profiles", dict[str, profile])]
    # A struct that extends Settings is a Settings; the library's types do not say so.
    return msgspec.defstruct(  # pyright: ignore[reportReturnType]
        "Settings", own, bases=(Settings,), frozen=True, forbid_unknown_fields=True, kw_only=True
    )


def load_settings(
    path: Path, type_: type[Settings], overrides: Sequence[str] = (), profile: str | None = None
) -> Settings:
    """Read settings from a file and apply ``KEY=VALUE`` overrides.

    Raises:
        ParameterError: the file is not YAML, a key is unknown or repeated, or a value is out of its range.
    """
    raw = override(read_parameters(path), overrides)
    overridden = [text.partition("=")[0].strip() for text in overrides]
    if profile:
        raw["profile"] = profile
    profiles, of_profile = raw.get("profiles"), type_.__annotations__["profiles"].__args__[1]
    try:
        for name, given in profiles.items() if isinstance(profiles, dict) else ():
            convert(given, of_profile, str(path), f"profiles.{name}")  # here the error names the profile
        settings = convert(raw, type_, str(path))
    except ParameterError as error:
        key = ".".join(error.where[1:])
        if any(f"{key}.".startswith(f"{other}.") for other in overridden):
            raise ParameterError(error.what, where=("--set", key), hint=error.hint) from error
        raise
    if settings.profile not in settings.profiles:
        hint = f"Choose one of {', '.join(settings.profiles)}"
        where = "--profile" if profile else "--set" if "profile" in overridden else path
        raise ParameterError(f"no profile {settings.profile!r}", where=(where,), hint=hint)
    return settings


def read_parameters(path: Path) -> dict[str, Any]:
    """Read a file of parameters, and add the keys that it leaves out but that can be set.

    Raises:
        ParameterError: the file is not YAML, or a key occurs twice.
    """
    raw = read_yaml(path)
    # The place where Spark runs can be overridden even if the file does not name it.
    spark = raw.get("spark") or {}
    if isinstance(spark, dict):
        raw["spark"] = msgspec.to_builtins(Spark()) | spark
    raw.setdefault("storage", None)
    return raw


def parameters_of(section: tuple[str, type[Any], *tuple[Any, ...]], overrides: Iterable[str]) -> Any:
    """The parameters of a section outside a project: the defaults with ``KEY=VALUE`` overrides.

    They are ``None`` for a section without a key.

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
        ParameterError: an override is not ``KEY=VALUE``, or names an unknown key.
    """
    copy = msgspec.json.decode(msgspec.json.encode(raw))
    for text in overrides:
        key, equals, value = text.partition("=")
        *folders, leaf = key.strip().split(".")
        place = copy
        for folder in folders:
            place = place.get(folder) if isinstance(place, dict) else None
        if not equals or not isinstance(place, dict) or leaf not in place:
            near = get_close_matches(key.strip(), flattened(raw), 1) if equals else []
            usual = f"Write KEY=VALUE with a key of {PARAMETERS_FILE}, such as seed=1"
            hint = f"Perhaps {near[0]}" if near else usual
            raise ParameterError(f"cannot set {text!r}", where=("--set",), hint=hint)
        place[leaf] = parse_yaml(value, "--set", key)
    return copy


def value_at(settings: Settings, key: str) -> Any:
    """The value of a dotted key after a round trip through JSON, so that it equals a value from a record."""
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
        nested = isinstance(value, dict) and value
        flat |= flattened(nested, f"{prefix}{key}.") if nested else {prefix + key: value}
    return flat


def convert(raw: Any, type_: type[T], *where: str) -> T:
    """Convert untyped settings to a typed structure; an error names the key."""
    try:
        return msgspec.convert(raw, type_)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at ")
        key, hint = path.strip("`").replace("$.", ""), "Compare with the comments in params.yaml"
        raise ParameterError(what + _not_this(raw, what, path), where=(*where, key), hint=hint) from error


def _not_this(raw: Any, what: str, path: str) -> str:
    """The value that is out of range, as text, if the error's path leads to it.

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
