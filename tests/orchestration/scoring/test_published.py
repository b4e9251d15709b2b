"""Every figure of the paper is a named number, or is listed as no result."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orchestration.scoring.published import PAPER, Figure, published

ROOT = Path(__file__).resolve().parents[3]
_FIGURE = re.compile(r"10\^\{-\d+\}|\d[\d,]*(?:\.\d+)?")


@pytest.fixture(scope="module")
def places() -> dict[str, str]:
    """The paper's text by place: abstract, sections, and tables with their captions."""
    tex = ROOT.parent / "shared" / "paper" / "event_graph_substrates.tex"
    if not tex.is_file():
        pytest.skip("the paper is not beside this checkout (../shared/paper)")
    return split_places(tex.read_text("utf-8"))


def split_places(tex: str) -> dict[str, str]:
    body = tex.partition(r"\begin{abstract}")[2].partition(r"\bibliographystyle")[0]
    tables: list[str] = []

    def lift(table: re.Match[str]) -> str:
        tables.append(table[0])
        return " "

    body = re.sub(r"\\begin\{table\*?\}.*?\\end\{table\*?\}", lift, body, flags=re.DOTALL)
    abstract, *sections = re.split(r"\\section\{[^}]*\}", body)
    texts = {"abstract": abstract}
    texts |= {f"section {place}": text for place, text in enumerate(sections, start=1)}
    texts |= {f"table {place}": text for place, text in enumerate(tables, start=1)}
    return {place: plain(text) for place, text in texts.items()}


def plain(text: str) -> str:
    """The text without markup that no reader sees: keys, labels, sizes of pictures."""
    text = re.sub(r"\\cite\w*(\[[^\]]*\])?\{[^}]*\}", lambda cite: cite[1] or "", text)
    text = re.sub(r"\\(label|ref)\{[^}]*\}", "", text)
    text = re.sub(r"\\includegraphics\[[^\]]*\]\{[^}]*\}", "", text)
    text = re.sub(r"\\begin\{(algorithmic|figure\*?)\}(\[[^\]]*\])?", "", text)
    return re.sub(r"\s+", " ", text.replace("{,}", ","))


def figures_in(text: str) -> set[float]:
    return {number(figure) for figure in _FIGURE.findall(text)}


def number(printed: str) -> float:
    return float(printed.replace(",", "").replace("10^{", "1e").replace("}", ""))


def test_every_figure_of_the_paper_is_a_named_number_or_no_result(places: dict[str, str]) -> None:
    unexplained: list[tuple[str, float]] = []
    for place, text in places.items():
        for passage in sorted(published().no_results, key=len, reverse=True):
            text = text.replace(passage, " ")
        named = {abs(figure.value) for figure in published().figures() if place in figure.where}
        unexplained += [(place, value) for value in sorted(figures_in(text) - named)]
    assert unexplained == []


def test_every_figure_is_in_the_places_that_it_names(places: dict[str, str]) -> None:
    for figure in published().figures():
        assert figure.where, f"{figure.name} is in no place of the paper"
        for place in figure.where:
            assert abs(figure.value) in figures_in(places[place]), f"{figure.name} is not in {place}"


def test_every_passage_that_is_no_result_is_in_the_paper_and_has_a_reason(places: dict[str, str]) -> None:
    text = " ".join(places.values())
    for passage, reason in published().no_results.items():
        assert passage in text, passage
        assert reason, passage


def test_every_size_is_in_the_place_that_it_names(places: dict[str, str]) -> None:
    printed = [size for size in published().sizes if size.printed]
    assert len(printed) == 4
    for size in printed:
        assert size.printed in places[size.where], size.what
        assert size.printed in published().no_results


def test_a_printed_difference_is_that_of_the_two_printed_accuracies() -> None:
    named = {figure.name: figure for figure in published().figures()}
    checked = 0
    for figure in named.values():
        if figure.sides and not figure.what.endswith(("/low", "/high", "/p")):
            first, second = (named[side] for side in figure.sides)
            assert figure.value == pytest.approx(first.value - second.value, abs=0.005), figure.name
            checked += 1
    assert checked == 18


def test_a_figure_has_its_system_the_input_of_that_system_and_its_split() -> None:
    known = published()

    def attributes(figure: Figure) -> tuple[str, str, str]:
        system = known.systems[figure.system]
        return system.title, system.sees, known.split(figure.number, figure.system)

    figures = {figure.name: figure for figure in known.figures()}
    of_two = ("NS-DR", "pixels", "validation (Rovai) or test (CausalVis)")
    assert attributes(figures["clevrer/explanatory/per_question/ns_dr"]) == of_two
    assert attributes(figures["comphy/factual/per_question/pcr"]) == ("PCR", "pixels", "test")
    assert attributes(figures["controlled/descriptive/accuracy"])[1] == "event log as text"
    assert figures["clevrer/explanatory/per_question"].system == PAPER
    for figure in figures.values():
        assert all(attributes(figure)), figure.name
        assert known.citation(figure), figure.name
