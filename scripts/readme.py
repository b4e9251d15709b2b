"""Writes README's two tables of results from the pins; with ``--check`` it says whether they are those.

python scripts/readme.py [--check]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from orchestration.ledger.pinned import pinned_cells, pinned_scores
from orchestration.registry import BENCHMARKS, TABLES
from orchestration.rendering.official import BESIDE, pinned_rows
from orchestration.rendering.trivial import BEST_TRIVIAL
from orchestration.scoring.formatting import bounds, share
from orchestration.scoring.likeness import NOT_REPORTED

ROOT = Path(__file__).resolve().parents[1]
OFFICIAL = {
    "clevrer/explanatory/per_question": "CLEVRER, explanatory, from true events",
    "clevrer_global/explanatory/per_question": "the same, causes need only precede the target's frame",
    "perceived_aside/explanatory/per_question": "CLEVRER, explanatory, from proposals of unseen videos",
    "perceived_worlds/explanatory/kept_out": "the same, from all possible logs of a video",
    "perceived/explanatory/per_question": "from proposals, with the 469 videos that weights were fitted to",
    "from_truth/detections/kept_out": "each collision explained, from proposals of unseen videos",
    "from_truth/worlds/kept_out": "the same, from all possible logs of a video",
    "descriptive/detections/kept_out": "descriptive questions, from proposals of unseen videos",
    "foretold/detections.80/f1_kept_out": "collisions after frame 80, from proposals of unseen videos: F1",
    "met/log/accuracy": "who met whom in Smallville's real simulation, all 300 pairs",
    "clevrer_humans/explanatory/per_question": "CLEVRER-Humans, from true events",
    "babi/mean/accuracy": "bAbI, 20 tasks",
}
"""The numbers of official data that README shows, the weak ones among them."""
GENERATED = {
    "clevrer/explanatory/per_question": "CLEVRER, explanatory",
    "clevrer/predictive/per_question": "CLEVRER, predictive",
    "clevrer/counterfactual/per_question": "CLEVRER, counterfactual",
    "comphy/counterfactual/per_question": "ComPhy, counterfactual",
    "babi/mean/accuracy": "bAbI, 20 tasks",
    "gqa/by_name/accuracy": "GQA, objects by name",
    "twin/joint": "Twin-EventLog, both arms at once (the paper's own generator)",
}
"""The numbers of the sample profile that README shows, the weak ones among them."""


def official() -> Iterator[str]:
    """The table of official data, with who stands beside each number."""
    yield f"| on parts of official releases | n | right | 95 % | {BEST_TRIVIAL} | {BESIDE} |"
    yield "|---|---|---|---|---|---|"
    rows = dict(pinned_rows(ROOT))
    for number, what in OFFICIAL.items():
        row = rows[number]
        beside = "" if row[BESIDE] == NOT_REPORTED else row[BESIDE]
        cells = (what, row["n"], row["right"], row["95 % interval"], row[BEST_TRIVIAL], beside)
        yield f"| {' | '.join(cells)} |"


def generated() -> Iterator[str]:
    """The table of generated data."""
    yield f"| on generated data | n | right | 95 % | {BEST_TRIVIAL} |"
    yield "|---|---|---|---|---|"
    counts = pinned_scores(ROOT, "sample")
    cells = {name: row for table in TABLES for name, row in pinned_cells(ROOT, "sample", table).items()}
    for number, what in GENERATED.items():
        correct, n = counts[number]
        trivial = cells.get(number, {}).get(BEST_TRIVIAL) or constant(number, cells)
        yield f"| {what} | {n:,} | {share(correct, n)} | {bounds(correct, n)} | {trivial} |"


def constant(number: str, cells: Mapping[str, Mapping[str, str]]) -> str:
    """The best constant beside a number of a table whose columns are systems."""
    name, _, metric = number.partition("/")
    label = BENCHMARKS[name].table[0].labels[metric]
    held = {
        of.removeprefix(f"{label}, "): row["substrate"]
        for of, row in cells.items()
        if f"{label}, always" in of
    }
    best = max(held, key=lambda of: float(held[of].split()[0]))
    return f"{held[best]} {best}"


def filled(text: str) -> str:
    """README with both tables as the pins have them."""
    for name, lines in (("official", official()), ("generated", generated())):
        marks = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
        table = "".join(f"{line}\n" for line in lines)
        text = re.sub(marks, lambda match, table=table: match[1] + table + match[2], text, flags=re.DOTALL)
    return text


def main() -> int:
    """Write README, or look at it; 1 where it is not what the pins say."""
    path = ROOT / "README.md"
    text = path.read_text("utf-8")
    now = filled(text)
    if "--check" in sys.argv[1:]:
        if now != text:
            sys.stderr.write("README.md: its tables are not those of the pins: run scripts/readme.py\n")
        return int(now != text)
    path.write_text(now, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
