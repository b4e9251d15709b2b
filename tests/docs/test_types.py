"""The pages for users of the library hold for a type checker in its strict mode."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "README.md",
    "docs/tutorial.md",
    "docs/how-to-remember.md",
    "docs/how-to-merge.md",
    "docs/how-to-trace.md",
)


def test_each_page_and_program_is_typed_strictly(tmp_path: Path) -> None:
    for page in PAGES:
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
        assert blocks, page
        (tmp_path / f"{Path(page).stem.replace('-', '_')}.py").write_text("\n".join(blocks), "utf-8")
    for program in (ROOT / "docs/examples").glob("*.py"):
        (tmp_path / program.name).write_bytes(program.read_bytes())
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    command = [sys.executable, "-m", "pyright", "--project", str(tmp_path), "--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
