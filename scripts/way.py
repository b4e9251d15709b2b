"""List the platform files that a command runs through, in the order in which a reader would open them.

.venv/bin/python scripts/way.py trace clevrer/descriptive/per_question

A stop is a file of `orchestration/` whose functions run; a second stop at the same file is a return. Files
that every command starts with, and declarations, are omitted.
"""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path
from types import FrameType
from typing import Any

from typer.testing import CliRunner

from orchestration.cli.main import app

HOUSE = Path(__file__).resolve().parents[1] / "orchestration"
SHARED = (
    *("cli/main.py", "project.py", "settings.py", "registry.py", "stage.py"),
    *("base/", "benchmarks/", "code/", "workspace/"),
)


def followed(arguments: list[str]) -> list[str]:
    """Return the platform files whose functions run, one entry each time that the file changes."""
    ran: dict[tuple[str, str], None] = {}

    def on_call(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(f"{HOUSE}/") and code.co_name[0] != "<":
            ran[code.co_filename, code.co_qualname] = None

    CliRunner().invoke(app, arguments)  # first run without the profile, so that imports do not count
    sys.setprofile(on_call)
    try:
        CliRunner().invoke(app, arguments)
    finally:
        sys.setprofile(None)
    files = (Path(file).relative_to(HOUSE).as_posix() for file, _ in ran)
    return [file for file, _ in groupby(file for file in files if not file.startswith(SHARED))]


def main() -> None:
    """Print the stops, with returns marked, and the number of each."""
    stops = followed(sys.argv[1:])
    for place, file in enumerate(stops):
        sys.stdout.write(f"{'return ' if file in stops[:place] else '':>8}{file}\n")
    sys.stdout.write(f"{len(stops)} stops, {len(stops) - len(set(stops))} returns\n")


if __name__ == "__main__":
    main()
