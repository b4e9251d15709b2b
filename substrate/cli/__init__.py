"""The library's commands: `substrate log`, `mcp`, `generate`, `models`, and the commands of `research`."""

from collections.abc import Mapping

COMMANDS: Mapping[str, tuple[str, str, str]] = {
    "log": ("cli", "substrate.cli.log:log_app", "Show, query, fork, merge and verify one event log."),
    "score": ("research", "research.cli.score:score_app", "Grade anyone's answers."),
    "generate": ("cli", "substrate.cli.generate:worlds", "Generate data in an official format, with truth."),
    "models": ("cli", "substrate.cli.models:models_app", "Serve a small language model on this machine."),
    "predict": (
        "research",
        "research.cli.clevrer:predict_app",
        "Predict the unseen future from your own files.",
    ),
    "perceive": ("research", "research.cli.clevrer:perceive_app", "Make events from a detector's proposals."),
    "mcp": ("mcp", "", ""),
}
"""The library's own commands: the extra that each needs and, for a group, its place and its help."""
