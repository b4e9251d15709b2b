"""The known bytes of official files: a published hash, or the pin of the first download."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from orchestration.fetch.transfer import RefusedError
from substrate.base.errors import FormatError
from substrate.base.inputs import NOT_JSON
from substrate.log.journal import write_atomically


class Pin(msgspec.Struct, frozen=True, kw_only=True):
    """A record of the first download of a file: SHA-256 (hex), size in bytes, address."""

    sha256: str
    size: int
    url: str


def read_downloads(path: Path) -> dict[str, Pin]:
    """Read pins by ``BENCHMARK/NAME``; none if the file does not exist.

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


class Digest(msgspec.Struct, frozen=True):
    """A file's SHA-256, git blob hash (SHA-1 over ``blob <size>``, a zero byte and the bytes), and size."""

    sha256: str
    blob: str
    size: int

    @classmethod
    def of(cls, path: Path) -> Digest:
        """Hash a file."""
        size = path.stat().st_size
        sha256, blob = hashlib.sha256(), hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        with path.open("rb") as file:
            while chunk := file.read(1 << 20):
                sha256.update(chunk)
                blob.update(chunk)
        return cls(sha256.hexdigest(), blob.hexdigest(), size)


@dataclass(frozen=True)
class Known:
    """The known bytes of a file.

    Attributes:
        key: the file as BENCHMARK/NAME.
        blob: its published git blob hash, if there is one.
        pins: the JSON file with the pins of files without a published hash.
    """

    key: str
    blob: str | None
    pins: Path

    @property
    def pin(self) -> Pin | None:
        """The pin of the file's first download, as the pins file has it now."""
        return read_downloads(self.pins).get(self.key)

    @property
    def is_vouched(self) -> bool:
        """Tell whether a published hash or a pin vouches for the file."""
        return bool(self.blob or self.pin)

    def require(self, digest: Digest, *where: object, hint: str) -> None:
        """Check bytes against the published hash and the pin; pass if there is neither.

        Raises:
            RefusedError: they differ; the error has the expected and the actual hash.
        """
        differ: list[str] = []
        if self.blob not in (None, digest.blob):
            differ.append(f"expected git blob SHA-1 {self.blob}, found {digest.blob}")
        if (pin := self.pin) and (pin.sha256, pin.size) != (digest.sha256, digest.size):
            known = f"expected SHA-256 {pin.sha256} ({pin.size} bytes)"
            differ.append(f"{known}, found {digest.sha256} ({digest.size} bytes)")
        if differ:
            raise RefusedError(f"the bytes differ: {'; '.join(differ)}", where=where, hint=hint)

    def keep(self, digest: Digest, url: str) -> None:
        """Pin a first download."""
        pin = Pin(sha256=digest.sha256, size=digest.size, url=url)
        entries = {**read_downloads(self.pins), self.key: pin}
        text = msgspec.json.format(msgspec.json.encode(entries, order="sorted"), indent=2).decode()
        self.pins.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.pins, f"{text}\n")
