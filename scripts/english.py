"""Check the project's English: a sentence begins with its subject, and ends before forty words.

    python scripts/english.py            count in every docstring and page; exit 1 above a limit
    python scripts/english.py FOLDER     count in one folder

The script also counts assignments of vague names, and the mean number of words per sentence.

A docstring or sentence that opens with a question word ("What", "Whether", "Where" …) or with "One" makes the
reader wait for its subject. Some such sentences are real questions, so the limit below is a share.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
OPENERS = re.compile(r"(What|Whether|Where|Which|Who|Whose|How|When|One)\b(?!\))")
WORDS = 40
"""The number of words above which a sentence counts as long."""
LIMITS = {"opener": 0.003, "long": 0.0065}
"""The share of sentences that may break a rule."""
VAGUE = {"found", "one", "said", "asked", "shown", "kept", "looked"}
"""Names of variables that do not tell their content."""
MOST_VAGUE = 100
"""The maximum number of assignments of these names, parameters included."""


class Sentence(NamedTuple):
    """A sentence of prose, with its file and line."""

    file: str
    line: int
    text: str

    @property
    def faults(self) -> tuple[str, ...]:
        """Return the rules that the sentence breaks.

        >>> Sentence("a.md", 1, "What is not pinned is drift.").faults
        ('opener',)
        >>> Sentence("a.md", 1, "Who may write?").faults
        ()
        """
        opens = bool(OPENERS.match(self.text)) and not self.text.endswith("?")
        long = len(self.text.split()) > WORDS
        return tuple(rule for rule, broken in (("opener", opens), ("long", long)) if broken)


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a page or a docstring, each with the first line (from 0) of its paragraph.

    Code, tables, headings, lists of names and directives do not count as prose.

    >>> list(sentences("# Title\\n\\nIt runs. It\\nends.\\n\\n    code here\\n"))
    [(2, 'It runs.'), (2, 'It ends.')]
    """
    paragraph: list[str] = []
    begin, fenced = 0, False
    for number, line in enumerate([*text.splitlines(), ""]):
        fence = line.lstrip().startswith(("```", "~~~"))
        fenced ^= fence
        item = re.match(r"\s*(?:[-*]|\d+\.)\s+", line)
        code = line.startswith("    ") and not (paragraph and not item)
        outside = fenced or fence or not line.strip() or re.match(r"\s*(#|\||!\[|>>>|\.\.|:::)", line) or code
        if outside or item:
            yield from ((begin, sentence) for sentence in _split(" ".join(paragraph)))
            paragraph = []
        if not outside:
            begin = begin if paragraph else number
            paragraph.append(line[item.end() :].strip() if item else line.strip())


def _split(paragraph: str) -> list[str]:
    return [sentence for sentence in re.split(r"(?<=[.?!])\s+(?=[A-Z`*\[])", paragraph) if sentence]


def of_python(path: Path) -> Iterator[Sentence]:
    """Yield the first sentence of each docstring, including those of attributes and constants."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                prose = value.value.partition("\n\n")[0]
                first = next(iter(_split(" ".join(prose.split()))), "")
                yield Sentence(_name(path), value.lineno, first)


def of_page(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a page."""
    for line, text in sentences(path.read_text("utf-8")):
        yield Sentence(_name(path), line + 1, text)


def vague(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the assignments of vague names in a module, each with its line."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.arg) and node.arg in VAGUE:
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE:
            yield node.lineno, node.id


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def tracked(folder: str) -> list[Path]:
    """Return the project's modules and pages below a folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.split("\0") if name.endswith((".py", ".md"))]
    return [path for path in paths if path.is_file() and path.name != "CHANGELOG.md"]


def main() -> None:
    """Print the sentences and names that break a rule, and their counts; exit 1 above a limit."""
    paths = tracked(sys.argv[1] if len(sys.argv) > 1 else ".")
    judged = [
        sentence for path in paths for sentence in (of_python if path.suffix == ".py" else of_page)(path)
    ]
    total = len(judged)
    failed = False
    for rule, limit in LIMITS.items():
        broken = [sentence for sentence in judged if rule in sentence.faults]
        allowed = int(limit * total)
        above = len(broken) > allowed
        failed |= above
        if above or len(sys.argv) > 1:
            for sentence in broken:
                sys.stdout.write(f"{sentence.file}:{sentence.line}: {rule}: {sentence.text[:90]}\n")
        sys.stdout.write(f"{rule}: {len(broken)} of {total} sentences; at most {allowed}\n")
    names = [(path, *place) for path in paths if path.suffix == ".py" for place in vague(path)]
    failed |= len(names) > MOST_VAGUE
    for path, line, name in names if len(sys.argv) > 1 or len(names) > MOST_VAGUE else ():
        sys.stdout.write(f"{_name(path)}:{line}: vague: {name}\n")
    words = sum(len(sentence.text.split()) for sentence in judged)
    sys.stdout.write(f"vague: {len(names)} assignments; at most {MOST_VAGUE}\n")
    sys.stdout.write(f"a mean sentence has {words / max(total, 1):.1f} words\n")
    sys.exit(failed)


if __name__ == "__main__":
    main()
