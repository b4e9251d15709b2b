"""Words that the shell completes: profiles, stages, benchmarks, numbers, experiments and keys of `--set`.

`substrate --install-completion` installs it. A shell never sees an error: nothing is completed then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from substrate.cli.notices import others_apart


def _completing(found: Callable[[Path], Iterable[str]]) -> Callable[[str], list[str]]:
    """The completion of a word to those that are found in the project."""

    def complete(incomplete: str) -> list[str]:
        try:
            with others_apart():
                from orchestration.workspace.root import find_root

                return sorted({word for word in found(find_root()) if word.startswith(incomplete)})
        except Exception:
            return []

    return complete


def _parameters(root: Path) -> dict[str, Any]:
    from orchestration.settings import PARAMETERS_FILE, read_parameters

    return read_parameters(root / PARAMETERS_FILE)


def _keys(root: Path) -> Iterable[str]:
    from orchestration.settings import flattened

    return (f"{key}=" for key in flattened(_parameters(root)))


def _stages(root: Path) -> Iterator[str]:
    """The stages that DVC runs and those that were pinned, from their files: the asset graph loads slowly."""
    yield from re.findall(r"substrate materialize (\S+)", (root / "dvc.yaml").read_text("utf-8"))
    for file in root.glob("pins/*.json"):
        yield from re.findall(r'^"(\S+/\S+)": \{$', file.read_text("utf-8"), re.MULTILINE)


def _benchmarks(_: Path) -> Iterable[str]:
    from orchestration.registry import BENCHMARKS

    return BENCHMARKS


def _numbers(_: Path) -> Iterable[str]:
    from orchestration.registry import BENCHMARKS

    return (number for benchmark in BENCHMARKS.values() for number in benchmark.numbers)


def _experiments(root: Path) -> Iterable[str]:
    from orchestration.experiments.record import experiment_names

    return experiment_names(root)


profiles = _completing(lambda root: _parameters(root)["profiles"])
keys, stages, experiments = _completing(_keys), _completing(_stages), _completing(_experiments)
benchmarks, numbers = _completing(_benchmarks), _completing(_numbers)
