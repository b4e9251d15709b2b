"""A check that every link of a folder of HTML pages arrives: `python scripts/check_links.py FOLDER`.

What a page links to, loads or points at must be a file of the folder; a fragment must be an id of the page
that it leads to. Addresses of other places are not asked.
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
    """The content of a page: the ids that a link may lead to, its links, and the ids that it refers to
    itself.
    """

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
    """A page of HTML."""
    reader = _Reader()
    reader.feed(path.read_text("utf-8"))
    reader.close()
    return reader.page


def broken(folder: Path) -> list[str]:
    """The links of a folder's pages that do not arrive, each with its page."""
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
    """Why a link does not arrive; empty where it does, or where it leads elsewhere."""
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
    """Print what is broken; exit code 1 where something is."""
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
