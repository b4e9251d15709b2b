"""The official files: where they are published, what is known of their bytes, and what vouches for them.

Where the files come from stands in ``sources.toml``, what their first downloads were in the pins file.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Literal

import msgspec

from orchestration.base.secrets_out import without_user
from orchestration.fetch.archives import Holding
from substrate.base.errors import FormatError
from substrate.base.inputs import NOT_JSON


class SourceFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An official file: addresses in the order of trial, git blob hash if published, what it must hold."""

    name: str
    urls: tuple[str, ...]
    blob: str | None = None
    holds: tuple[Holding, ...] = ()
    extra: bool = False


class Source(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A benchmark's official files; ``manual`` is where a person has to go if there is no direct address."""

    files: tuple[SourceFile, ...] = ()
    licence: str = ""
    manual: str = ""


Sources = Mapping[str, Source]
"""Official files by benchmark."""


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """A record of the first download of a file: SHA-256 (hex), size in bytes, address."""

    sha256: str
    size: int
    url: str


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """An official file as it is known before it is fetched, with what vouches for its bytes.

    ``checked`` is ``published hash``, ``first download`` where the first download was trusted and recorded,
    ``nothing yet`` where the next one will be, or ``by hand`` where a person has to fetch it from ``urls``.
    """

    benchmark: str
    name: str
    checked: Literal["published hash", "first download", "nothing yet", "by hand"]
    blob: str | None = None
    sha256: str | None = None
    size: int | None = None
    holds: tuple[str, ...] = ()
    urls: tuple[str, ...]
    extra: bool = False

    def __str__(self) -> str:
        vouched = {
            "published hash": f"checked against the published git blob {self.blob}",
            "first download": f"trusted on first use: recorded as sha256:{self.sha256}",
            "nothing yet": "trusted on first use: nothing is recorded yet, the next download will be",
            "by hand": "has no direct address: to be fetched by hand",
        }
        size = "size unknown" if self.size is None else f"{self.size} bytes"
        notes = [size, vouched[self.checked]]
        if self.holds:
            notes.append(f"before it is recorded it has to hold {', '.join(self.holds)}")
        if self.extra:
            notes.append("fetched only when asked for by name")
        where = "".join(f"\n    {url}" for url in self.urls)
        return f"{self.benchmark}/{self.name}: {'; '.join(notes)}{where}"


def official_sources() -> Sources:
    """The addresses that come with the package.

    >>> all(source.files or source.manual for source in official_sources().values())
    True
    """
    return msgspec.toml.decode(
        files("orchestration.fetch").joinpath("sources.toml").read_bytes(), type=dict[str, Source]
    )


def read_pins(path: Path) -> dict[str, Pin]:
    """Pins by ``BENCHMARK/NAME``; none where the file does not exist yet.

    Raises:
        FormatError: the file is not a pins file.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Pin])
    except FileNotFoundError:
        return {}
    except NOT_JSON as error:
        hint = "Restore the pins file from the repository's history"
        raise FormatError(str(error), where=(path,), hint=hint) from error


def at_mirror(base: str | None, file: SourceFile) -> SourceFile:
    """A file at a mirror, which holds it under its name; at its own addresses where there is none."""
    if base is None:
        return file
    return msgspec.structs.replace(file, urls=(f"{base.rstrip('/')}/{file.name}",))


def known_files(pins: Path, sources: Sources | None = None, base: str | None = None) -> list[Known]:
    """The official files, in the order of the addresses.

    Args:
        pins: the JSON file that records first downloads.
        sources: where the files are; the official addresses by default.
        base: a mirror, as :func:`fetch` takes it.

    Raises:
        FormatError: the pins file is damaged.

    >>> for file in known_files(Path("nowhere.json"))[:3]:
    ...     print(file.name, file.checked)
    validation.json published hash
    annotation_validation.zip nothing yet
    train.json published hash
    """
    recorded = read_pins(pins)
    found: list[Known] = []
    for benchmark, source in (official_sources() if sources is None else sources).items():
        if not source.files:
            manual = Known(benchmark=benchmark, name="(all files)", checked="by hand", urls=(source.manual,))
            found.append(manual)
        for file in source.files:
            pin = recorded.get(f"{benchmark}/{file.name}")
            found.append(
                Known(
                    benchmark=benchmark,
                    name=file.name,
                    checked="published hash" if file.blob else "first download" if pin else "nothing yet",
                    blob=file.blob,
                    sha256=pin.sha256 if pin else None,
                    size=pin.size if pin else None,
                    holds=tuple(f"{held.number:,} {held.of}" for held in file.holds),
                    urls=tuple(map(without_user, at_mirror(base, file).urls)),
                    extra=file.extra,
                )
            )
    return found
