"""The library's commands: `substrate log`, `mcp`, `generate`, `models`, and the commands of `research`.

Begin with :mod:`.launcher`, which starts the command with whatever is installed, and :mod:`.main`, which
makes it from the groups below. A module imports only modules above it in this list:

    notices       the command's own output, while that of other programs goes to a log; how much it says
    printing      text, lines and JSON on that output
    stopping      errors and signals as a sentence and an exit code
    events        the progress of a long command
    console       options, decorators and results: what a module of commands imports
    log           `substrate log`; _log_branches, _log_exchange and _log_rules have some of its commands,
                  _log_common the options and the reading of logs and terms
    generate, models    the groups of these names

:mod:`.platform` is the only way from the library to the platform.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Entry(NamedTuple):
    """A command's extra and, for a group of commands, its place (``module:name``) and its help."""

    extra: str
    made_by: str = ""
    about: str = ""


COMMANDS: Mapping[str, Entry] = {
    "log": Entry("cli", "substrate.cli.log:log_app", "Show, query, fork, merge and verify one event log."),
    "score": Entry("research", "research.cli.score:score_app", "Grade anyone's answers."),
    "generate": Entry(
        "cli", "substrate.cli.generate:worlds", "Generate data in an official format, with truth."
    ),
    "models": Entry(
        "cli", "substrate.cli.models:models_app", "Serve a small language model on this machine."
    ),
    "predict": Entry(
        "research", "research.cli.clevrer:predict_app", "Predict the unseen future from your own files."
    ),
    "perceive": Entry(
        "research", "research.cli.clevrer:perceive_app", "Make events from a detector's proposals."
    ),
    "mcp": Entry("mcp"),
}
"""The library's own commands by name."""
