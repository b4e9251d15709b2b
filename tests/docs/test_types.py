"""The pages for users of the library hold for a type checker in its strict mode."""

from __future__ import annotations

import json
import re
import shutil
import sys
from glob import glob
from pathlib import Path

from commands import ROOT, python

PAGES = ("README.md", "docs/tutorial.md", *sorted(glob("docs/how-to-*.md", root_dir=ROOT)))
_FILE = re.compile(r"# (\S+\.py)\n")


def test_each_page_and_program_is_typed_strictly(tmp_path: Path) -> None:
    """A block that begins with a file's name is that file; the others of a page are one program."""
    programs: list[str] = []
    for room in ("substrate", "orchestration", "research"):  # a page's files are checked beside the packages
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    for page in PAGES:
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
        files = {named[1]: block for block in blocks if (named := _FILE.match(block))}
        rest = [block for block in blocks if not _FILE.match(block)]
        files |= {f"{Path(page).stem.replace('-', '_')}.py": "\n".join(rest)} if rest else {}
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, "utf-8")
        programs += files
    assert len(programs) >= 8
    for program in (ROOT / "docs/examples").glob("*.py"):
        (tmp_path / program.name).write_bytes(program.read_bytes())
        programs.append(program.name)
    settings = {"typeCheckingMode": "strict", "include": programs}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    done = python("-m", "pyright", "--project", tmp_path, "--pythonpath", sys.executable)
    assert done.returncode == 0, done.stdout
