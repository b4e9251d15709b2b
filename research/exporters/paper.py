"""A paper's source as HTML in which each printed figure links to its meaning, with our figure beside it.

pandoc reads the source as JSON, whose nodes have a kind ``t`` and a content ``c``; pandoc gives them no other
type, so neither does this module. What ``c`` holds depends on the kind: of a header level, attributes and
inlines; of a picture attributes, caption and target; of a formula its type and its TeX. One walk numbers
sections and tables, finds the figures of each paragraph, and puts a link in the place of each. A figure is
matched by its place (abstract, section, table) and its value with the entries of a file of published figures.
Figures that no entry knows are listed, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from orchestration.rendering.report.page import templates
from orchestration.scoring.published import Published
from substrate.base.errors import FormatError
from substrate.base.extras import import_extra
from substrate.base.files import replacing
from substrate.base.inputs import read_text

FIGURE = re.compile(r"10\^\{-\d+\}|\d[\d,]*(?:\.\d+)?")
"""A figure in running text or in TeX, without its sign."""
_LABEL = r"(?:Algorithm|Corollary|Definition|Figure|Lemma|Proposition|Section|Table|Theorem)\s\d+"
"""The number of a part of the paper, which is no result."""
_SKIPPED = frozenset({"Cite", "Code", "Image", "Link", "RawInline"})
"""Inlines whose figures are no results: citations, references, names."""


class Meaning(NamedTuple):
    """A number that a printed figure may be, with its method and its page in the report."""

    name: str
    ours: str | None
    """Our value in words; ``None`` if it is not measured here."""
    how: str
    page: str | None

    @property
    def value(self) -> str:
        """Our value, or the note that there is none."""
        return self.ours or "not measured here"


@dataclass
class Printed:
    """A figure of the paper: its text and place, and the numbers that it may be, if an entry knows it."""

    anchor: str
    text: str
    place: str
    meanings: list[Meaning] = field(default_factory=list)


LookUp = Callable[[str], Meaning]
"""Finds the meaning of a figure, by a number's name."""


def write_paper(source: Path, out: Path, known: Published, look: LookUp) -> list[Printed]:
    """Write a paper as ``index.html`` in a folder, and give its figures in the order of the text.

    Args:
        source: a TeX file.
        out: a folder; made where it is absent.
        known: the published figures, each with the places where the paper prints it.
        look: finds our value of a number.

    Raises:
        FormatError: pandoc cannot read the source.
    """
    document = _read(source)
    reader = _Reader(known, look, source.parent)
    reader.blocks([document["meta"].get("abstract", {})], "abstract")
    reader.blocks(document["blocks"], "abstract")
    template, style = (Path(__file__).with_name(name) for name in ("paper.html.j2", "paper.css"))
    notes = templates().from_string(template.read_text("utf-8")).render(figures=reader.figures)
    raw = {"t": "RawBlock", "c": ["html", f"<style>{style.read_text('utf-8')}</style>"]}
    document["meta"]["header-includes"] = {"t": "MetaBlocks", "c": [raw]}
    document["meta"].pop("bibliography", None)
    document["meta"].setdefault("lang", {"t": "MetaInlines", "c": [{"t": "Str", "c": "en"}]})
    document["blocks"].append({"t": "RawBlock", "c": ["html", notes]})
    options = ["--standalone", "--mathml", "--number-sections"]
    pandoc, text = import_extra("pypandoc"), json.dumps(document)
    page = pandoc.convert_text(text, "html5", format="json", extra_args=options)
    with replacing(out / "index.html") as fresh:
        fresh.write_text(page, "utf-8")
    return reader.figures


def _read(source: Path) -> dict[str, Any]:
    try:
        # A comma in braces is one without a space behind it: part of a figure.
        text, pandoc = read_text(source).replace("{,}", ","), import_extra("pypandoc")
        return json.loads(pandoc.convert_text(text, "json", format="latex", extra_args=["--quiet"]))
    except (OSError, RuntimeError) as error:
        message = str(error).strip().splitlines() or ["pandoc cannot read it"]
        raise FormatError(message[-1], where=(source,), hint="Give a paper's TeX source") from error


class _Reader:
    """A walk over a document that turns its figures into links."""

    def __init__(self, known: Published, look: LookUp, folder: Path) -> None:
        self.look, self.folder = look, folder
        self.figures: list[Printed] = []
        plain = sorted((passage.replace("$", "") for passage in known.no_results), key=len, reverse=True)
        self.passages = re.compile("|".join([*map(re.escape, plain), _LABEL]))
        self.named: dict[tuple[str, float], list[str]] = {}
        for figure in known.figures():
            for place in figure.where:
                self.named.setdefault((place, abs(figure.value)), []).append(figure.name)
        self.sections = self.tables = 0

    def blocks(self, nodes: Iterable[Any], place: str) -> None:
        """Walk blocks and all that they hold; a place is the abstract, a section or a table."""
        for node in nodes:
            kind = node.get("t") if isinstance(node, dict) else None
            if kind == "Header" and node["c"][0] == 1:  # the level
                self.sections += 1
                place = f"section {self.sections}"
            elif kind == "Header" and node["c"][0] > 2:
                node["c"][1][1].append("unnumbered")  # the classes among the attributes
            elif kind == "Table":
                self.tables += 1
                self.blocks(node["c"], f"table {self.tables}")
            elif kind in ("Para", "Plain", "MetaInlines"):
                self.inlines(node["c"], place)
            elif isinstance(node, list):
                self.blocks(node, place)
            elif isinstance(node, dict) and isinstance(node.get("c"), list) and kind != "CodeBlock":
                self.blocks(node["c"], place)

    def inlines(self, nodes: list[Any], place: str) -> None:
        """Turn the figures of a paragraph into links, in place."""
        leaves = list(_leaves(nodes))
        text = "".join(leaf.text for leaf in leaves)
        text = self.passages.sub(lambda passage: "\0" * len(passage[0]), text)
        start = 0
        for leaf in leaves:
            end = start + len(leaf.text)
            if figures := [figure for figure in FIGURE.finditer(text, start, end) if figure.end() <= end]:
                spans = [(figure.start() - start, figure.end() - start) for figure in figures]
                leaf.replace(spans, partial(self._link, place))
            start = end
        for index, node in enumerate(nodes):
            if node["t"] == "Cite":
                keys = ", ".join(cited["citationId"] for cited in node["c"][0])
                nodes[index] = {"t": "Str", "c": f"[{keys}]"}
            elif node["t"] == "Image" and not (self.folder / node["c"][2][0].strip()).is_file():
                nodes[index] = {"t": "Str", "c": "[picture not at hand]"}

    def _link(self, place: str, text: str, node: dict[str, Any]) -> dict[str, Any]:
        value = float(text.replace(",", "").replace("10^{", "1e").replace("}", ""))
        figure = Printed(f"figure-{len(self.figures) + 1}", text, place)
        figure.meanings = [self.look(name) for name in self.named.get((place, value), ())]
        self.figures.append(figure)
        kind = "known" if figure.meanings else "unknown"
        title = (
            "; ".join(f"{meaning.name}: {meaning.value}" for meaning in figure.meanings)
            or "no entry knows this figure"
        )
        attributes = [f"at-{figure.anchor}", ["figure", kind], []]
        return {"t": "Link", "c": [attributes, [node], [f"#{figure.anchor}", title]]}


class _Leaf(NamedTuple):
    """A piece of a paragraph's text, and the list of inlines in which it stands."""

    text: str
    node: dict[str, Any]
    within: list[Any]

    def replace(self, spans: list[tuple[int, int]], link: Callable[[str, dict[str, Any]], Any]) -> None:
        """Put links for spans of the text; a formula is one link, to its first figure."""
        here = next(index for index, node in enumerate(self.within) if node is self.node)
        if self.node["t"] == "Math":
            self.within[here] = link(self.text[slice(*spans[0])], self.node)
            return
        pieces: list[dict[str, Any]] = []
        last = 0
        for start, end in spans:
            node = {"t": "Str", "c": self.text[start:end]}
            pieces += [{"t": "Str", "c": self.text[last:start]}, link(node["c"], node)]
            last = end
        pieces.append({"t": "Str", "c": self.text[last:]})
        self.within[here : here + 1] = [piece for piece in pieces if piece["c"]]


def _leaves(nodes: list[Any]) -> Iterator[_Leaf]:
    for node in list(nodes):
        kind, content = node["t"], node.get("c")
        if kind == "Str":
            yield _Leaf(content, node, nodes)
        elif kind == "Math":
            # MathML has no word for these.
            content[1] = re.sub(r"\\(?:textsc|Call)\b", r"\\mathrm", content[1])
            yield _Leaf(content[1], node, nodes)
        elif kind in ("Space", "SoftBreak", "LineBreak") or kind in _SKIPPED:
            yield _Leaf(" ", {"t": ""}, nodes)
        elif isinstance(content, list):
            inner = content[-1] if isinstance(content[-1], list) else content
            yield from _leaves(inner)


def summary(figures: Iterable[Printed]) -> dict[str, int]:
    """Count the figures: all, those beside ours, those not measured here, those that no entry knows."""
    printed = list(figures)
    ours = [f for f in printed if any(meaning.ours for meaning in f.meanings)]
    unknown = [figure for figure in printed if not figure.meanings]
    return {
        "figures": len(printed),
        "beside ours": len(ours),
        "not measured here": len(printed) - len(ours) - len(unknown),
        "unknown": len(unknown),
    }
