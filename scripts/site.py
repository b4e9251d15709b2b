"""The documentation, the API reference and a report as one static site: `python scripts/site.py REPORT`.

MkDocs builds the documentation in build/site and stops at a broken link; the report goes to /report there.
Then the script checks every link of every page, also of the report's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

SITE = Path("build/site")


def main() -> None:
    """Build the site, and exit with 1 if it has a broken link."""
    (report,) = map(Path, sys.argv[1:])
    if not (report / "index.html").is_file():
        sys.exit(f"{report}/index.html is not there: `substrate reproduce` makes the report")
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "REPORT_IN_SITE": "1"}
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict"], check=True, env=environment)
    shutil.copytree(report, SITE / "report")
    checker = Path(__file__).with_name("check_links.py")
    checked = subprocess.run([sys.executable, checker, SITE], check=False)
    sys.exit(checked.returncode)


if __name__ == "__main__":
    main()
