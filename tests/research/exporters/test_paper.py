"""A paper as HTML: each printed figure links to its meaning and to our value."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from orchestration.scoring.published import parse_published, published
from research.exporters.paper import Meaning, Printed, summary, write_paper
from substrate.base.errors import FormatError

PAPER = Path(__file__).resolve().parents[3].parent / "shared" / "paper" / "event_graph_substrates.tex"
TEX = r"""\documentclass{article}\title{T}\begin{document}\maketitle
\begin{abstract}We ask 1{,}200 questions.\end{abstract}
\section{Results}\label{sec:r} Ours has 71.5 percent, $\tau = 0.4$, in 99 runs; see Section \ref{sec:r}.
\begin{table}\caption{All}\begin{tabular}{lr}who & right\\ ours & 71.5 \\\end{tabular}\end{table}
\end{document}
"""
FIGURES = r"""
paper: Another
systems: {substrate: {title: paper, sees: text, citation: Another}}
numbers:
  meadow/all/accuracy: {split: test, n: [1200, abstract], substrate: [71.5, section 1, table 1]}
no_results: {'$\tau = 0.4$': parameter}
"""


def here(name: str) -> Meaning:
    return Meaning(name, "70 [68, 72] (generated data)", "840 of 1,200", None)


def written(folder: Path, tex: str) -> tuple[list[Printed], str]:
    (folder / "paper.tex").write_text(tex, "utf-8")
    figures = write_paper(folder / "paper.tex", folder / "out", parse_published(FIGURES), here)
    return figures, (folder / "out" / "index.html").read_text("utf-8")


def test_another_paper_with_figures_of_its_own(tmp_path: Path) -> None:
    figures, page = written(tmp_path, TEX)
    assert [
        (figure.text, figure.place, [meaning.name for meaning in figure.meanings]) for figure in figures
    ] == [
        ("1,200", "abstract", ["meadow/all/accuracy/n"]),
        ("71.5", "section 1", ["meadow/all/accuracy"]),
        ("99", "section 1", []),
        ("71.5", "table 1", ["meadow/all/accuracy"]),
    ]
    for figure in figures:
        assert re.search(rf'<a\s+href="#{figure.anchor}"', page), f"{figure.text} is no link"
        assert f'id="{figure.anchor}"' in page, f"the link of {figure.text} leads nowhere"
    assert "840 of 1,200" in page
    assert summary(figures)["unknown"] == 1


def test_what_is_no_tex_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"absent\.tex"):
        write_paper(tmp_path / "absent.tex", tmp_path / "out", published(), here)
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not PAPER.is_file(), reason="the paper is not beside this checkout (../shared/paper)")
def test_every_figure_of_the_paper_is_a_link_that_an_entry_knows(tmp_path: Path) -> None:
    figures = write_paper(PAPER, tmp_path, published(), here)
    assert len(figures) > 130
    assert [(figure.text, figure.place) for figure in figures if not figure.meanings] == []
