"""`substrate score`: anyone's answers, graded."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from substrate.base.errors import ParameterError
from substrate.cli import platform
from substrate.cli.console import JsonOption, apart, argument, give, option

score_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Grade anyone's answers.")


@score_app.callback()
def _score() -> None:
    """Keep ``score`` a group: Typer would make its only command the group itself."""


@score_app.command("twin")
@apart
def score_twin(
    answers: Annotated[
        Path,
        argument(
            'JSON lines: rows, or {"spec": 17, "arm": "a", "answer": "yes"}; may be gzip.', metavar="ANSWERS"
        ),
    ],
    specs: Annotated[
        Path | None, option("--specs", "Specifications with gold; by default the profile's.", metavar="FILE")
    ] = None,
    profile: Annotated[
        str | None,
        option("--profile", "sample, beyond, full, paper or local; by default the one in params.yaml."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Grade any agent's answers: per-arm, joint and divergence accuracy with Wilson intervals, also by
    linkage and query.
    """
    from research.domains import grading

    scores = grading.score_twin(answers, specs or _specs_of(profile))
    give(scores, grading.scoreboard(scores).split("\n"), json=json)


def _specs_of(profile: str | None) -> Path:
    """The specifications of a profile of the platform."""
    project = platform.module("project")
    if project is None:
        hint = "Name the file of the specifications that were asked"
        raise ParameterError("is needed: there is no project to take it from", where=("--specs",), hint=hint)
    return project.open_workspace(profile).data / "twin" / "specs.jsonl"
