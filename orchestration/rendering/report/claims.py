"""The paper's claims as the report and the terminal show them: a table, a plot, a page for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from msgspec.structs import replace

from orchestration.drift.claim_verdicts import from_files, from_pins
from orchestration.pins.paths import DECIDING
from orchestration.pins.pin_files import pinned_cells
from orchestration.registry import TABLES
from orchestration.rendering.layouts.best_trivial import BEST_TRIVIAL
from orchestration.rendering.report.page import claim_page, write_page
from orchestration.rendering.wording import counts_in_words, label
from orchestration.scoring.claims import claims
from orchestration.scoring.comparability import marked
from orchestration.scoring.formatting import share
from orchestration.scoring.scores import Score, printed_shares, score
from orchestration.scoring.verdict import OPEN, ClaimVerdict
from orchestration.workspace.folders import Workspace


def lead(now: Sequence[ClaimVerdict]) -> str:
    """Count the verdicts in a sentence for a reader.

    >>> lead([])
    'Of 0 claims, none is decided; 0 cannot be decided with the data at hand.'
    """
    decided = counts_in_words(of for of in now if of.verdict not in OPEN) or "none is decided"
    left = sum(of.verdict in OPEN for of in now)
    return f"Of {len(now)} claims, {decided}; {left} cannot be decided with the data at hand."


def official_scores(workspace: Workspace) -> Iterator[tuple[str, Score]]:
    """Yield the rows of the plot: a label, and a score on official data with the published figures."""
    results = [from_files(workspace), *(from_pins(workspace.root, profile) for profile in DECIDING)]
    for number, (words, beside) in claims().plot.items():
        if measured := next(filter(None, (of.find(True, number) for of in results)), None):
            own = score(number, measured.correct, measured.n, "official")
            yield words, replace(own, published=printed_shares(beside))


def mark_text(score: Score, who: str) -> str:
    """Say a published figure for a reader who cannot see the plot."""
    return f"{marked(who, score.name)} {100 * score.published[who]:.2f} %"


def beaten(workspace: Workspace, scores: Mapping[str, Score], now: Iterable[ClaimVerdict]) -> Iterator[str]:
    """Yield the cases in which, on generated data, a trivial method is better or an order is reversed."""
    gaps: list[tuple[float, str]] = []
    levels = {claim.margin[0] for claim in claims().claims.values() if len(claim.margin) == 1}
    rows = (pinned_cells(workspace.root, "sample", table).items() for table in TABLES)
    for number, row in chain.from_iterable(rows):
        # A pin keeps a cell as text: the best trivial method's share, then its name.
        of, (trivial, _, method) = scores.get(number), row.get(BEST_TRIVIAL, "").partition(" % ")
        if of and of.n and of.data == "generated" and number in levels and trivial:
            gap = float(trivial) - 100 * of.correct / of.n
            text = f"{label(number)}: {share(of.correct, of.n)}; a trivial method ({method}) has {trivial} %"
            gaps.append((gap, text))
    yield from (text for gap, text in sorted(gaps, reverse=True) if gap > 0)
    for of in now:
        if of.relation == "order" and of.direction == "opposite":
            yield f"{of.claim}: here {of.measured}"


def write_claims(profile: str, now: Iterable[ClaimVerdict], there: Mapping[str, str], out: Path) -> None:
    """Write a page for each claim.

    Args:
        there: the kind of data of each number that has a page in this report.
    """
    (out / "claims").mkdir()
    for of in now:
        variables = {"profile": profile, "claim": of, "judged": claims().claims[of.name].statement}
        write_page(out, claim_page(of.name), "claim.html.j2", there=there, **variables)
