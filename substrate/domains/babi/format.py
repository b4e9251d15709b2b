"""bAbI's file format: stories of numbered sentences and questions (Weston et al., 2015; release v1.2).

A line is ``ID text`` or ``ID question<TAB>answer<TAB>supporting ids``; an ID of 1 opens a new story. The
interpreter and the story teller share only these types. A task's number comes from the file's name and is for
reports only: neither this module nor the grammar depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from substrate.base.errors import FormatError
from substrate.base.inputs import read_text


class Statement(msgspec.Struct, frozen=True, tag=True):
    """A sentence that tells a fact: its ID in the story, its line in the file, its text."""

    id: int
    line: int
    text: str


class Question(msgspec.Struct, frozen=True, tag=True):
    """A question; without gold in the file, ``answer`` is ``None`` and ``supporting`` empty."""

    id: int
    line: int
    text: str
    answer: str | None = None
    supporting: tuple[int, ...] = ()


class Story(msgspec.Struct, frozen=True):
    """A story of a file: ``scene`` counts the file's stories from 0."""

    file: str
    subset: str
    split: str
    scene: int
    lines: tuple[Statement | Question, ...]

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The sentences that tell facts, in order."""
        return tuple(line for line in self.lines if isinstance(line, Statement))

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions, in order."""
        return tuple(line for line in self.lines if isinstance(line, Question))

    def where(self, line: Statement | Question) -> tuple[str, str, str]:
        """File, line and text, as an error names them."""
        return self.file, f"line {line.line}", repr(line.text)


_FILE = re.compile(
    r"qa([0-9]{1,4})(?:[_ (].*?)??(?:_(train|valid|test)(?:[ (].*|[-_]?[0-9]+)?)?\.txt(?:\.gz)?"
)
_LINE = re.compile(r"([1-9][0-9]{0,8}) +(\S.*)")
_OFFICIAL = "Write `ID text` or `ID question<TAB>answer<TAB>supporting ids`"


def task_number(subset: str) -> int:
    """The number of a task, by which tasks are sorted.

    >>> sorted(["qa10", "qa2", "qa21"], key=task_number)
    ['qa2', 'qa10', 'qa21']
    """
    return int(subset.removeprefix("qa"))


def read_tasks(path: Path) -> list[Story]:
    """Read the stories of one file ``qaN_….txt`` or of every such file in a folder, gzipped or not, by task
    and name.

    A task is known by its number: ``qa01`` is ``qa1``. A name that ends in ``_train``, ``_valid`` or
    ``_test`` gives the split, even before a copy's mark such as ``(1)``.

    Raises:
        FormatError: names file, line and fault; also if a folder holds no task, or a task twice.
    """
    names = [(_FILE.fullmatch(file.name), file) for file in (path.iterdir() if path.is_dir() else [path])]
    tasks = sorted((int(match[1]), file.name, match[2] or "", file) for match, file in names if match)
    if not tasks:
        what = "holds no task" if path.is_dir() else "not the name of a task"
        raise FormatError(what, where=(path,), hint="Name each task qaN_….txt or qaN_….txt.gz")
    stories: list[Story] = []
    seen: dict[tuple[int, str], str] = {}
    for number, name, split, file in tasks:
        if other := seen.get((number, split)):
            what = f"qa{number} is in {other} as well"
            raise FormatError(what, where=(file,), hint="Keep one file per task and split")
        seen[number, split] = name
        stories += parse_stories(read_text(file), file=str(file), subset=f"qa{number}", split=split)
    return stories


def parse_stories(text: str, *, file: str, subset: str, split: str = "") -> list[Story]:
    """Parse the stories of one file's text.

    >>> text = "1 Mary went to the park.\\n2 Where is Mary? \\tpark\\t1\\n"
    >>> parse_stories(text, file="f", subset="qa1")[0].questions[0].answer
    'park'

    Raises:
        FormatError: the text is empty, a line has no ID or IDs do not increase, a question comes before any
            fact or lacks the answer that others have, or a supporting ID is not an earlier fact's.
    """
    stories: list[list[Statement | Question]] = []
    fields: set[int] = set()
    for number, raw in enumerate(text.splitlines(), start=1):
        if not raw.strip():
            continue
        try:
            line = _line(raw, number, stories)
            fields |= {raw.count("\t")} if isinstance(line, Question) else set()
            if len(fields) > 1:
                hint = "The file is cut off or mixed; give every question its answer, or none"
                raise FormatError("the question does not have as many fields as earlier questions", hint=hint)
        except FormatError as fault:
            raise fault.within(file, f"line {number}", repr(raw)) from None
        stories[-1].append(line)
    if not stories:
        raise FormatError("the file is empty", where=(file,), hint="Give a file with at least one story")
    return [Story(file, subset, split, scene, tuple(lines)) for scene, lines in enumerate(stories)]


def _line(raw: str, number: int, stories: list[list[Statement | Question]]) -> Statement | Question:
    """Parse a line of the latest story, or begin a new story with it."""
    match = _LINE.fullmatch(raw.rstrip())
    if not match:
        raise FormatError("the line does not begin with an ID and a text", hint=_OFFICIAL)
    identifier = int(match[1])
    if identifier == 1:
        stories.append([])
    elif not stories or identifier <= stories[-1][-1].id:
        hint = "IDs start at 1 in every story and increase"
        raise FormatError(f"ID {identifier} does not follow", hint=hint)
    # The match has lost the empty fields at the line's end.
    text, *gold = (part.strip() for part in raw.partition(" ")[2].split("\t"))
    if not gold and not text.endswith("?"):
        return Statement(identifier, number, text)
    facts = sorted({line.id for line in stories[-1] if isinstance(line, Statement)})
    if not facts:
        raise FormatError("the question comes before any fact", hint="A story tells before it asks")
    if not gold:
        return Question(identifier, number, text)
    if len(gold) > 2 or not gold[0]:
        raise FormatError("the line is not a question, an answer and supporting IDs", hint=_OFFICIAL)
    supporting = gold[1].split() if len(gold) == 2 else []
    if not all(
        word.isascii() and word.isdigit() and len(word) < 10 and int(word) in facts for word in supporting
    ):
        raise FormatError("a supporting ID belongs to no earlier fact", hint=f"Name IDs among {facts}")
    return Question(identifier, number, text, gold[0], tuple(map(int, supporting)))


def render_stories(stories: Iterable[Iterable[Statement | Question]]) -> str:
    """Write stories as official text, which :func:`parse_stories` reads back."""
    return "".join(f"{_rendered(line)}\n" for story in stories for line in story)


def _rendered(line: Statement | Question) -> str:
    if isinstance(line, Statement) or line.answer is None:
        return f"{line.id} {line.text}"
    return f"{line.id} {line.text} \t{line.answer}\t{' '.join(map(str, line.supporting))}"
