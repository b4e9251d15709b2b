"""Check every link in a folder of HTML pages: `python scripts/check_links.py FOLDER`.

The target of a link, an image, a script or a reference must be a file of the folder, and a fragment must be
an id of its page. Addresses outside the folder are not checked.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

ATTRIBUTES = ("href", "src", "poster", "data")
REFERENCES = ("aria-labelledby", "aria-describedby", "aria-controls", "for")


class Page(NamedTuple):
    """The parts of a page: its ids, its links, and the ids that attributes such as ``for`` refer to."""

    ids: set[str]
    links: list[str]
    references: list[str]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page(set(), [], [])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {key: value or "" for key, value in attrs}
        self.page.ids.update(attributes[key] for key in ("id", "name") if key in attributes)
        self.page.links.extend(attributes[key] for key in ATTRIBUTES if key in attributes)
        self.page.references.extend(name for key in REFERENCES for name in attributes.get(key, "").split())


@cache
def read(path: Path) -> Page:
    """Read a page of HTML."""
    reader = _Reader()
    reader.feed(path.read_text("utf-8"))
    reader.close()
    return reader.page


def broken(folder: Path) -> list[str]:
    """The broken links of a folder's pages, each with its page and the reason."""
    folder = folder.resolve()
    broken_links: list[str] = []
    for path in sorted(folder.rglob("*.html")):
        page = read(path)
        where = path.relative_to(folder).as_posix()
        faults = {link: _fault(folder, path, link) for link in page.links}
        broken_links += [f"{where}: {link}: {why}" for link, why in faults.items() if why]
        missing = sorted({*page.references} - page.ids)
        broken_links += [f"{where}: #{name}: no such id on the page" for name in missing]
    return broken_links


def _fault(folder: Path, path: Path, link: str) -> str:
    """The reason why a link is broken; empty if it is not, or if it leads to another site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return ""
    target = path
    if parts.path:
        base = folder if parts.path.startswith("/") else path.parent
        target = (base / unquote(parts.path).lstrip("/")).resolve()
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(folder):
        return "leads out of the folder"
    if not target.is_file():
        return "no such file"
    fragment = unquote(parts.fragment)
    if fragment and target.suffix == ".html" and fragment not in read(target).ids:
        return "no such id on that page"
    return ""


def main() -> None:
    """Print the broken links; exit with 1 if there are any."""
    (folder,) = map(Path, sys.argv[1:])
    pages = len(list(folder.rglob("*.html")))
    if not pages:
        sys.exit(f"{folder} has no pages")
    broken_links = broken(folder)
    for line in broken_links:
        sys.stderr.write(f"{line}\n")
    sys.stdout.write(f"{pages} pages, {len(broken_links)} broken links\n")
    sys.exit(1 if broken_links else 0)


if __name__ == "__main__":
    main()
