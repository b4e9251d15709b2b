"""`substrate claims`: the paper's claims, each with its verdict and the reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from orchestration.cli.console import ProfileOption
from substrate.cli.console import JsonOption, argument, give, voiced

if TYPE_CHECKING:
    from orchestration.scoring.verdict import ClaimVerdict

_WIDTH, _INDENT = 110, "    "
# The widths of a list's columns.
_CELLS = (13, 27, 17, 44)


@voiced
def claims(
    name: Annotated[str | None, argument("One claim instead of all.", metavar="NAME")] = None,
    profile: ProfileOption = None,
    json: JsonOption = False,
) -> None:
    """List the paper's claims with their verdicts.

    A verdict follows from the results of the profile and the pins of the others. Official data decide;
    generated data give a direction.
    """
    from orchestration.drift.claim_verdicts import verdicts_here
    from orchestration.project import open_workspace
    from orchestration.rendering.wording import counts_in_words

    every = verdicts_here(open_workspace(profile))
    if name is not None:
        claim = named(every, name)
        give(claim, lines(claim), json=json)
    else:
        give(every, listed(every), json=json, closing=counts_in_words(every))


def named(every: Iterable[ClaimVerdict], name: str) -> ClaimVerdict:
    """Find a claim's verdict.

    Raises:
        ParameterError: there is no such claim.
    """
    from difflib import get_close_matches

    from substrate.base.errors import ParameterError

    known = {claim.name: claim for claim in every}
    if name not in known:
        near = get_close_matches(name, known)
        hint = f"Perhaps {', '.join(near)}" if near else "`substrate claims` lists them"
        raise ParameterError(f"no claim is named {name!r}", where=("NAME",), hint=hint)
    return known[name]


def listed(every: list[ClaimVerdict]) -> Iterator[str]:
    """Yield a table of verdicts, and what is not established, with the reasons."""
    from orchestration.rendering.tables import drawn, wrapped
    from orchestration.rendering.wording import counts_in_words
    from orchestration.scoring.verdict import OPEN, VERDICTS

    every = sorted(every, key=lambda claim: [*VERDICTS].index(claim.verdict))
    rows: list[list[str]] = []
    for claim in every:
        here = claim.measured + (f" ({claim.direction})" if claim.direction else "")
        rows.append([*map(wrapped, (claim.verdict, claim.name, claim.paper, here), _CELLS)])
    yield from drawn(("verdict", "claim", "paper", "here"), rows, "simple", words=True).split("\n")
    yield "\nNot established, and why:"
    reasons: dict[str, list[str]] = {}
    for claim in every:
        if claim.verdict in OPEN:
            reasons.setdefault(claim.why, []).append(claim.name)
    for why, names in reasons.items():
        yield from wrap(f"{', '.join(names)}: {why}", _WIDTH, subsequent_indent=_INDENT)
    yield f"\nThe paper's {len(every)} claims: {counts_in_words(every)}."


def lines(claim: ClaimVerdict) -> Iterator[str]:
    """Yield everything about a claim."""
    from orchestration.base.templates import text_template

    for line in text_template(__file__, "claim.txt.j2").render(claim=claim).splitlines():
        yield from wrap(line, _WIDTH, subsequent_indent=_INDENT)
