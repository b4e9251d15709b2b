"""What Twin-EventLog's stages do to a share of specifications; runs inside Spark's workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from orchestration.pipeline.logs import write_log
from substrate.domains.smallville.format import Gold, Spec, read_gold, read_specs
from substrate.domains.smallville.twin import ARMS, Twin, replay_twin, twin_rows
from substrate.log import EventLog
from substrate.rows import encode
from substrate.worlds.smallville import spec_line


def specs_of(folder: Path) -> Path:
    """The specifications in a dataset's folder."""
    return folder / "specs.jsonl"


def log_name(number: int, arm: str) -> str:
    """The file name of an arm's event log in its log folder."""
    return f"{number:05d}.{arm}.rdfp"


@dataclass(frozen=True)
class Generate:
    """Numbers ► specifications with gold, as lines of JSON."""

    seed: int

    def __call__(self, numbers: Sequence[int]) -> Iterator[str]:
        """The specifications' lines, in order."""
        return (spec_line(number, self.seed) for number in numbers)


@dataclass(frozen=True)
class WriteLogs:
    """Specifications ► the event logs of both arms; gives the index's lines.

    Arm A's log is the village's own, digest and all: a fork that nothing tells apart from its parent.
    """

    specs: Path
    out: Path

    def __call__(self, numbers: Sequence[int]) -> Iterator[str]:
        """The index's lines of the arms, by specification."""
        for number in numbers:
            spec, _ = _specs(self.specs)[number]
            for arm, log in zip(ARMS, replay_twin(spec), strict=True):
                yield write_log(
                    self.out, log_name(number, arm), log, f"{self.specs.name}: specification {number}"
                )


@dataclass(frozen=True)
class Answer:
    """The arms' event logs and the questions ► rows."""

    logs: Path
    specs: Path

    def __call__(self, numbers: Sequence[int]) -> Iterator[str]:
        """The rows of the specifications, in order."""
        for number in numbers:
            spec, gold = _specs(self.specs)[number]
            twin = Twin(*(EventLog.read(self.logs / log_name(number, arm)) for arm in ARMS))
            yield from (encode(row).decode() for row in twin_rows(spec, gold, twin))


@lru_cache(maxsize=1)
def _specs(path: Path) -> dict[int, tuple[Spec, Gold | None]]:
    gold = read_gold(path)
    return {spec.spec: (spec, gold[spec.spec]) for spec in read_specs(path)}


def spec_numbers(specs: Path) -> list[int]:
    """The numbers of a file's specifications, ascending."""
    return sorted(read_gold(specs))
