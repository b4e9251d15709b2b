"""Reliability of the probabilities that pairs collide, on the tracked scenes that nothing was fitted to.

    python -m research.measurements.clevrer_reliability TRAJECTORIES EVENTS [--figure FILE]

Prints a table a frame, with the Brier score beside that of always saying how common collisions are, and draws
the diagram of docs/design/foretelling.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from research.domains.foretelling import read_trajectories
from research.domains.foretelling.from_trajectories import AT, cast, halves, watch
from research.measurements.clevrer_foretelling import Bin, brier, judged, reliability
from substrate.domains.clevrer.format import read_scene_events
from substrate.domains.clevrer.motion import LAW
from substrate.domains.clevrer.motion.law import BELIEF, SIGHT


def table(at: int, chances: Sequence[tuple[float, bool]]) -> str:
    """The bins of a frame in Markdown."""
    common = fmean(came for _, came in chances)
    lines = [
        f"\nFrom frame {at}: {len(chances)} pairs; Brier score {brier(chances):.4f}, "
        f"{common * (1 - common):.4f} where {common:.4f} is said of each.\n",
        "| pairs | probability said | share that collides |",
        "|---|---|---|",
    ]
    lines += [f"| {bin_.pairs} | {bin_.said:.3f} | {bin_.came:.3f} |" for bin_ in reliability(chances)]
    return "\n".join(lines) + "\n"


def draw(by_frame: Mapping[int, Sequence[Bin]], out: Path) -> None:
    """The reliability diagram; bars are two standard errors of a share."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "reliability", "svg.fonttype": "none"}):
        figure = Figure(figsize=(4.6, 4.2), layout="constrained")
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for (at, bins), marker in zip(sorted(by_frame.items()), "os", strict=True):
            error = [2 * (b.said * (1 - b.said) / b.pairs) ** 0.5 for b in bins]
            axes.errorbar(
                [b.said for b in bins],
                [b.came for b in bins],
                yerr=error,
                marker=marker,
                linewidth=1,
                capsize=2,
                label=f"from frame {at}",
            )
        axes.set(xlabel="probability said", ylabel="share that collides", xlim=(0, 1), ylim=(0, 1))
        axes.legend(frameon=False, loc="upper left")
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Are the probabilities of collisions right?")
    parser.add_argument("trajectories", type=Path, help="JSON lines of tracked positions")
    parser.add_argument("events", type=Path, help="JSON lines of true events of the same scenes")
    parser.add_argument("--figure", type=Path, help="SVG file to draw")
    given = parser.parse_args()
    _, kept_out = halves(watch(read_trajectories(given.trajectories), read_scene_events(given.events)))
    by_frame: dict[int, list[Bin]] = {}
    for at in AT:
        chances = judged(kept_out, at, cast(kept_out, at, LAW, SIGHT), BELIEF)
        by_frame[at] = reliability(chances)
        sys.stdout.write(table(at, chances))
    if given.figure:
        draw(by_frame, given.figure)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
