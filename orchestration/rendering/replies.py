"""A language model's rows beside what they are judged by: constants, and what became of its replies."""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec
from markupsafe import escape

from orchestration.benchmarks.baselines import LanguageModel, pictures_of
from orchestration.models.transcript import Exchange, Replay, read_told, read_transcript
from orchestration.scoring.counting import graded_rows
from orchestration.scoring.formatting import share
from orchestration.workspace.folders import Workspace
from orchestration.workspace.requests import TRANSCRIPT, parts_of
from substrate.domains.rows import Row

NO_MODEL = "no model"
"""In place of a model's name, where nothing was measured."""
REPLIES = ("unreadable replies", "same reply when asked again", "cost")
"""The rows of a table that say what became of a model's replies."""


def graded(workspace: Workspace, name: str) -> list[Row]:
    """The rows of a benchmark that have gold."""
    return list(graded_rows(workspace.artifacts / name / "answers.jsonl"))


def constants(rows: Sequence[Row]) -> dict[str, int]:
    """The rows that each constant answer gets right: yes, no, and the gold that is most often.

    >>> asked = {"benchmark": "b", "split": "s", "subset": "", "predicted": "", "correct": False, "log": ""}
    >>> constants([Row(**asked, scene=0, question=0, expected=gold) for gold in ("3", "no", "3")])
    {'always “yes”': 0, 'always “no”': 1, 'always the majority, “3”': 2}
    """
    gold = Counter(str(row.expected) for row in rows)
    most = min(gold, key=lambda answer: (-gold[answer], answer))
    return {f"always “{answer}”": gold[answer] for answer in ("yes", "no")} | {
        f"always the majority, “{most}”": gold[most]
    }


def replies(workspace: Workspace, name: str) -> dict[str, str]:
    """The fate of a model's replies, in words; nothing where no model was asked."""
    told = read_told(workspace.data / name)
    if told is None:
        return {}
    rows = graded(workspace, name)
    lost = sum(row.error is not msgspec.UNSET for row in rows)
    tokens = f"{told.prompt_tokens:,} tokens in, {told.completion_tokens:,} out"
    pace = f", {told.seconds:.1f} s a request" if told.seconds else ""
    cells = (
        f"{lost:,} of {len(rows):,}, {share(lost, len(rows))}",
        f"{told.agreed:,} of {told.repeated:,}",
        f"{told.requests:,} requests, {tokens}{pace}",
    )
    return dict(zip(REPLIES, cells, strict=True))


def conversations(workspace: Workspace, model: LanguageModel) -> Iterator[tuple[Row, str]]:
    """Each row of a model, with the prompts and the replies behind it as markup."""
    records = read_transcript(workspace.data / model.name / TRANSCRIPT)
    if not records:
        return
    parts, baseline = parts_of(model, workspace, pictures_of(records))
    for part in parts:
        replay = Replay(records, baseline)
        rows = part(replay)
        said = [_turns(records[name]) for name in replay.asked]
        # As many requests as rows, in their order; else all of a part are behind each of its rows.
        behind = said if len(said) == len(rows) else ["".join(said)] * len(rows)
        yield from zip(rows, behind, strict=True)


def _turns(one: Exchange) -> str:
    told = [(message["role"], message["text"]) for message in one.request["messages"]]
    said = [*told, (one.reply.by.model or "reply", one.reply.error or one.reply.content)]
    return "".join(f"<p><b>{escape(who)}</b></p><pre>{escape(text)}</pre>" for who, text in said)
