"""Words that the shell completes: profiles, stages, benchmarks, numbers, experiments and keys of `--set`.

`substrate --install-completion` installs it. A shell never sees an error: nothing is completed then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from substrate.cli.notices import others_apart


def _completing(found: Callable[[], Iterable[str]], about: str) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        try:
            return sorted({word for word in found() if word.startswith(incomplete)})
        except Exception:
            return []

    complete.__doc__ = about
    return complete


def _parameters() -> dict[str, Any]:
    from orchestration.base.yaml_text import read_yaml
    from orchestration.settings import PARAMETERS_FILE
    from orchestration.workspace.root import find_root

    return read_yaml(find_root() / PARAMETERS_FILE)


def _dotted(given: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in given.items():
        yield from _dotted(value, f"{prefix}{key}.") if isinstance(value, dict) else [f"{prefix}{key}="]


def _stages() -> Iterator[str]:
    """The stages that DVC runs and those that were pinned, from their files: the asset graph loads slowly."""
    from orchestration.workspace.root import find_root

    root = find_root()
    yield from re.findall(r"substrate materialize (\S+)", (root / "dvc.yaml").read_text("utf-8"))
    for file in root.glob("pins/*.json"):
        yield from re.findall(r'^"(\S+/\S+)": \{$', file.read_text("utf-8"), re.MULTILINE)


def _benchmarks() -> Iterable[str]:
    with others_apart():
        from orchestration.registry import BENCHMARKS

    return BENCHMARKS


def _numbers() -> Iterator[str]:
    with others_apart():
        from orchestration.registry import BENCHMARKS

    for benchmark in BENCHMARKS.values():
        yield from benchmark.numbers


def _experiments() -> Iterator[str]:
    from orchestration.workspace.root import find_root

    for record in (find_root() / "experiments").glob("[!.]*/experiment.json"):
        yield record.parent.name


experiments = _completing(_experiments, "Experiments.")
profiles = _completing(lambda: _parameters()["profiles"], "Profiles of `params.yaml`.")
keys = _completing(lambda: _dotted(_parameters()), "Keys of `params.yaml`, as `--set` takes them.")
stages = _completing(_stages, "Stages.")
benchmarks = _completing(_benchmarks, "Benchmarks.")
numbers = _completing(_numbers, "Numbers, as `trace` takes them.")
