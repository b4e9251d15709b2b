"""The shared parts of the platform's commands: options, the events of stages, and a run."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

from substrate.cli.console import note, option, shaped
from substrate.cli.notices import Voice, descriptor

_PROFILES = "sample, beyond, full, paper, real or local; by default the profile of params.yaml."
ProfileOption = Annotated[str | None, option("--profile", _PROFILES)]
_SET = option("--set", "Override a key of params.yaml; may be repeated.", metavar="KEY=VALUE")
SetOption = Annotated[list[str], _SET]
NOTHING_SET: list[str] = []
_T = TypeVar("_T")
# The roles of a benchmark's files, with the help text of each option.
INPUTS = {
    "annotations": ("DIR_OR_ZIP", "Official annotations."),
    "events": ("FILE", "Compact event records as JSON lines; may be gzip."),
    "trajectories": ("FILE", "Positions of the objects in --events, as JSON lines by scene; may be gzip."),
    "tasks": ("DIR", "Official files qaN_….txt, gzipped or not."),
    "proposals": ("DIR_OR_ZIP", "NS-DR's processed proposals, sim_NNNNN.json."),
    "scene_graphs": ("FILE", "Official scene graphs; may be gzip."),
    "questions": ("FILE", "The official list, or JSON lines of the same records; may be gzip."),
    "further": ("FILE", "More questions about the same scenes, as --questions takes them."),
    "specs": ("FILE", "Specifications as JSON lines; may be gzip."),
}


def chosen(by_name: Mapping[str, _T], name: str, refusal: str, where: str) -> _T:
    """Find what a user named.

    Raises:
        ParameterError: nothing has this name; the hint lists all names.
    """
    from substrate.base.errors import ParameterError  # `--help` loads nothing of the library

    if name not in by_name:
        raise ParameterError(refusal, where=(where,), hint=f"Choose one of {', '.join(by_name)}")
    return by_name[name]


def file_option(name: str) -> Any:
    """Return the type of an option that names one of a benchmark's files."""
    metavar, about = INPUTS.get(name, ("FILE", name))
    return Annotated[Path | None, option(f"--{name.replace('_', '-')}", about, metavar=metavar)]


def given_files(files: Mapping[str, Path | None]) -> dict[str, Path]:
    """Return the files that a user named, which all exist.

    Args:
        files: the paths by role, ``None`` if not given; an input's role is its option's name.

    Raises:
        ParameterError: a file is missing; the error names the option and the path.
    """
    from substrate.base.errors import ParameterError

    given = {name: path for name, path in files.items() if path is not None}
    for name, path in given.items():
        if not path.exists():
            option, kind = f"--{name.replace('_', '-')}", INPUTS.get(name, ("FILE",))[0]
            raise ParameterError("is not there", where=(option, path), hint=f"Give it a {kind} that is")
    return given


def with_files(command: Callable[..., None]) -> Callable[..., None]:
    """Replace a command's last parameter, ``**files``, with an option for each role of a file."""
    *given, _ = inspect.signature(command, eval_str=True).parameters.values()
    kind = inspect.Parameter.KEYWORD_ONLY
    files = (inspect.Parameter(name, kind, default=None, annotation=file_option(name)) for name in INPUTS)
    return shaped(command, [*given, *files])


@contextmanager
def reporting(names: Sequence[str]) -> Iterator[dict[str, str]]:
    """Report the events of a run of some stages.

    Yields a mapping that grows: for each ended stage, ``computed`` or ``reused``.
    """
    from orchestration.base.progress import Listener, heard_by, ignore
    from substrate.cli.events import speaking

    made: dict[str, str] = {}
    with speaking("run") as stream:

        def end(stage: str, how: str, rows: int | None) -> None:
            if stage not in made:  # a retried stage may end twice
                made[stage] = how
                stream.end(stage, how, rows)

        stream.plan(len(names), "stage" if len(names) == 1 else "stages")
        with heard_by(Listener(stream.advance, end, say=note if Voice.verbose else ignore)):
            yield made


def running() -> AbstractContextManager[None]:
    """Run the block as a run of the pipeline; print one line on the terminal if it is interrupted."""
    from orchestration.base.stopping import ends_when_told

    return ends_when_told(descriptor("stderr"))
