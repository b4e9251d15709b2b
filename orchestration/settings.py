"""`params.yaml`, typed: what every stage of a run is parametrised by."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from orchestration.yaml_text import parse_yaml, read_yaml
from substrate.baselines.parameters import Parameters as BaselineParameters
from substrate.domains.clevrer.parameters import Parameters as ClevrerParameters
from substrate.domains.comphy.parameters import Parameters as ComphyParameters
from substrate.errors import ParameterError

PARAMETERS_FILE = "params.yaml"
T = TypeVar("T")
Size = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
Seed = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]


class Spark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where Spark runs and how the work is cut up; no result depends on either."""

    master: str = "local[*]"
    partitions: Annotated[int, msgspec.Meta(ge=1, le=10**6)] = 8


class ClevrerData(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a profile's CLEVRER data come from: a generated world, or the official files."""

    source: Literal["generated", "official"]
    first_scene: Size = 10000
    scenes: Size = 0
    mirror: str | None = None
    """An address that holds the official files under their names, instead of the official ones."""


class BabiData(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a profile's bAbI data come from; ``questions`` is how many a generated task has."""

    source: Literal["generated", "official"]
    questions: Size = 0
    mirror: str | None = None


class GqaData(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a profile's GQA data come from; ``scenes`` is how many are generated."""

    source: Literal["generated", "official"]
    scenes: Size = 0
    mirror: str | None = None


class ComphyData(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A profile's ComPhy data: generated targets.

    The release has no direct address, so a paper profile has none.
    """

    source: Literal["generated"]
    targets: Size


class HumansData(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Files of CLEVRER-Humans that a user has: compact events of its scenes and its questions; without them
    nothing is measured.
    """

    events: str | None = None
    questions: str | None = None


class TwinData(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many specifications of Twin-EventLog a profile has; the paper's own are not public, so all are
    generated.
    """

    specs: Size = 500


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The data of one profile, by benchmark."""

    clevrer: ClevrerData
    babi: BabiData
    gqa: GqaData
    comphy: ComphyData | None = None
    clevrer_humans: HumansData = HumansData()
    twin: TwinData = TwinData()


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of `params.yaml`."""

    profile: str
    seed: Seed
    profiles: dict[str, Profile]
    spark: Spark = Spark()
    clevrer: ClevrerParameters = ClevrerParameters()
    comphy: ComphyParameters = ComphyParameters()
    comphy_inferred: ComphyParameters = ComphyParameters()
    baselines: BaselineParameters = BaselineParameters()

    @property
    def data(self) -> Profile:
        """The data of the profile in force."""
        return self.profiles[self.profile]


def load_settings(path: Path, overrides: Iterable[str] = (), profile: str | None = None) -> Settings:
    """Settings from a file, with ``KEY=VALUE`` overrides on top.

    Raises:
        ParameterError: the file is not YAML, a key is unknown or there twice, or a value is out of its range.
    """
    raw = override(read_yaml(path), overrides)
    if profile:
        raw["profile"] = profile
    profiles = raw.get("profiles")
    for name, given in profiles.items() if isinstance(profiles, dict) else ():
        convert(given, Profile, str(path), f"profiles.{name}")  # an error of the whole would not name it
    settings = convert(raw, Settings, str(path))
    if settings.profile not in settings.profiles:
        raise ParameterError(
            f"no profile {settings.profile!r}",
            where=(path,),
            hint=f"Choose one of {', '.join(settings.profiles)}",
        )
    return settings


def parameters_of(type_: type[T], benchmark: str, overrides: Iterable[str]) -> T:
    """A benchmark's parameters outside a project: the defaults, with ``BENCHMARK.KEY=VALUE`` overrides.

    >>> parameters_of(ClevrerParameters, "clevrer", ["clevrer.predictive.tau=0.4"]).predictive.tau
    0.4
    """
    raw = override({benchmark: msgspec.to_builtins(type_())}, overrides)
    return convert(raw[benchmark], type_, "--set", benchmark)


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
                hint=f"Write KEY=VALUE with a key of {PARAMETERS_FILE}, such as clevrer.predictive.tau=0.4",
            )
        place[leaf] = parse_yaml(value, "--set", key)
    return copy


def convert(raw: Any, type_: type[T], *where: str) -> T:
    """Untyped settings as a typed structure; the error names the key."""
    try:
        return msgspec.convert(raw, type_)
    except msgspec.ValidationError as error:
        what, _, path = str(error).partition(" - at ")
        raise ParameterError(
            what,
            where=(*where, path.strip("`").replace("$.", "")),
            hint="Compare with the comments in params.yaml",
        ) from error
