"""bAbI's file format: stories of numbered sentences and questions (Weston et al., 2015; release v1.2).

A line is ``ID text`` or ``ID question<TAB>answer<TAB>supporting ids``; an ID of 1 opens a new story.
These types are all that the interpreter and the story teller share. The number of the task comes from
the file's name and serves reports only: nothing here or in the grammar depends on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from substrate.base.errors import FormatError
from substrate.base.inputs import read_text

SUBSETS = tuple(f"qa{number}" for number in range(1, 21))


class Statement(msgspec.Struct, frozen=True, tag=True):
    """A sentence that tells a fact: its ID in the story, its line in the file, its text."""

    id: int
    line: int
    text: str


class Question(msgspec.Struct, frozen=True, tag=True):
    """A question; ``answer`` is ``None`` and ``supporting`` empty where the file carries no gold."""

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


_FILE = re.compile(r"(qa[0-9]{1,4})(?:_.*?)??(?:_(train|valid|test))?\.txt(?:\.gz)?")
_LINE = re.compile(r"([1-9][0-9]{0,8}) +(\S.*)")
_OFFICIAL = "Write `ID text` or `ID question<TAB>answer<TAB>supporting ids`"


def read_tasks(path: Path, *, split: str | None = None) -> list[Story]:
    """The stories of one file ``qaN_*.txt`` or of every such file in a folder, gzipped or not, by task and
    name.

    Args:
        path: a file or a folder.
        split: keep only files whose name ends in ``_train``, ``_valid`` or ``_test``; all where ``None``.

    Raises:
        FormatError: names file, line and fault; also where a folder holds no task, or one twice.
    """
    stories: list[Story] = []
    seen: dict[tuple[str, str], Path] = {}
    for file in _files(path):
        match = _FILE.fullmatch(file.name)
        if not match:
            raise FormatError(
                "not the name of a task", where=(file,), hint="Name it qaN_….txt or qaN_….txt.gz"
            )
        subset, kind = match[1], match[2] or ""
        if split is not None and kind != split:
            continue
        if (subset, kind) in seen:
            raise FormatError(
                f"{subset} is in {seen[subset, kind].name} as well",
                where=(file,),
                hint="Keep one file a task and split",
            )
        seen[subset, kind] = file
        stories += parse_stories(read_text(file), file=str(file), subset=subset, split=kind)
    if not stories:
        raise FormatError(
            "holds no task" + (f" of split {split}" if split else ""),
            where=(path,),
            hint="Give a folder of qaN_….txt files",
        )
    return stories


def parse_stories(text: str, *, file: str, subset: str, split: str = "") -> list[Story]:
    """The stories of one file's text.

    >>> text = "1 Mary went to the park.\\n2 Where is Mary? \\tpark\\t1\\n"
    >>> parse_stories(text, file="f", subset="qa1")[0].questions[0].answer
    'park'

    Raises:
        FormatError: the text is empty, a line has no ID or IDs do not grow, a question comes before any fact
            or lacks the answer that others have, or its supporting IDs are not those of earlier facts.
    """
    stories: list[list[Statement | Question]] = []
    fields: set[int] = set()
    for number, raw in enumerate(text.splitlines(), start=1):
        if not raw.strip():
            continue
        place = (file, f"line {number}", repr(raw))
        match = _LINE.fullmatch(raw.rstrip())
        if not match:
            raise FormatError("the line does not begin with an ID and a text", where=place, hint=_OFFICIAL)
        identifier = int(match[1])
        if identifier == 1:
            stories.append([])
        elif not stories or identifier <= stories[-1][-1].id:
            raise FormatError(
                f"ID {identifier} does not follow",
                where=place,
                hint="IDs start at 1 in every story and increase",
            )
        line = _line(identifier, number, raw.rstrip("\r\n").partition(" ")[2].split("\t"), stories[-1], place)
        stories[-1].append(line)
        if isinstance(line, Question):
            fields.add(raw.count("\t"))
            if len(fields) > 1:
                hint = "The file is cut off or mixed; give every question its answer, or none"
                raise FormatError(
                    "the question has not as many fields as those before it", where=place, hint=hint
                )
    if not stories:
        raise FormatError("the file is empty", where=(file,), hint="Give a file with at least one story")
    return [Story(file, subset, split, scene, tuple(lines)) for scene, lines in enumerate(stories)]


def _line(
    identifier: int,
    number: int,
    parts: list[str],
    before: list[Statement | Question],
    place: tuple[str, str, str],
) -> Statement | Question:
    text, *gold = (part.strip() for part in parts)
    if not gold and not text.endswith("?"):
        return Statement(identifier, number, text)
    facts = {line.id for line in before if isinstance(line, Statement)}
    if not facts:
        raise FormatError("a question before any fact", where=place, hint="A story tells before it asks")
    if not gold:
        return Question(identifier, number, text)
    if len(gold) > 2 or not gold[0]:
        raise FormatError("not a question, an answer and supporting IDs", where=place, hint=_OFFICIAL)
    words = gold[1].split() if len(gold) == 2 else []
    if not all(word.isascii() and word.isdigit() and len(word) < 10 and int(word) in facts for word in words):
        raise FormatError(
            "a supporting ID is not that of an earlier fact",
            where=place,
            hint=f"Name IDs among {sorted(facts)}",
        )
    return Question(identifier, number, text, gold[0], tuple(map(int, words)))


def render_stories(stories: Iterable[Iterable[Statement | Question]]) -> str:
    """Stories as official text; what :func:`parse_stories` reads back."""
    return "".join(f"{_rendered(line)}\n" for story in stories for line in story)


def _rendered(line: Statement | Question) -> str:
    if isinstance(line, Statement) or line.answer is None:
        return f"{line.id} {line.text}"
    return f"{line.id} {line.text} \t{line.answer}\t{' '.join(map(str, line.supporting))}"


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    names = [(match, file) for file in path.iterdir() if (match := _FILE.fullmatch(file.name))]
    return [file for match, file in sorted(names, key=lambda pair: (int(pair[0][1][2:]), pair[1].name))]
