"""Write the numbers of README and of the page of claims from the pins.

With ``--check``, only compare them.

python scripts/readme.py [--check]
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from orchestration.drift.claim_verdicts import verdicts
from orchestration.pins.pin_files import PinError, pinned_cells, pinned_scores
from orchestration.registry import BENCHMARKS, TABLES
from orchestration.rendering.conclusion import verdict_lines
from orchestration.rendering.layouts.best_trivial import BEST_TRIVIAL, PAIRED
from orchestration.rendering.layouts.official import BESIDE, pinned_rows
from orchestration.rendering.tables import plain
from orchestration.rendering.wording import counts_in_words
from orchestration.scoring.comparability import NOT_REPORTED
from orchestration.scoring.formatting import bounds, share
from orchestration.scoring.names import name_of
from orchestration.scoring.verdict import OPEN
from orchestration.verification.record_faults import others_pinned, profile_faults, require_sound

ROOT = Path(__file__).resolve().parents[1]
INTERVAL = "95 % interval"
PUBLISHED = "published, on whole splits"
OFFICIAL = {
    "clevrer/counterfactual/per_question": "counterfactual, training: partner rule",
    "ablations/counterfactual.duality/per_question": "counterfactual, training: ancestor duality alone",
    "ablations/counterfactual.filmed/per_question": "counterfactual, training: filmed events recur",
    "clevrer_validation/counterfactual.partner/per_question": "counterfactual, validation: partner rule",
    "clevrer_validation/counterfactual.video/per_question": "counterfactual, validation: simulated "
    "to the end",
    "clevrer_validation/counterfactual.simulated/per_question": "counterfactual, validation: simulated "
    "51 frames beyond the end",
    "clevrer_validation/descriptive/per_question": "descriptive, validation: tracks",
    "clevrer/explanatory/per_question": "explanatory, training: ancestors in the event graph",
    "ablations/explanatory.global/per_question": "explanatory, training: all earlier events",
    "perceived/explanatory/per_question": "explanatory, training: proposals, weights fitted to 469 of these",
    "perceived_aside/explanatory/per_question": "explanatory, training: proposals in unseen videos",
    "perceived_worlds/explanatory/kept_out": "explanatory, training: all possible logs of unseen videos",
    "from_truth/detections/kept_out": "a question per collision: proposals in unseen videos",
    "from_truth/worlds/kept_out": "a question per collision: all possible logs of unseen videos",
    "descriptive/detections/kept_out": "descriptive questions made here: proposals in unseen videos",
    "foretold/detections.80/f1_kept_out": "F1 of collisions after frame 80: proposals in unseen videos",
    "met/log/accuracy": "all 300 pairs of the published Smallville simulation: who met whom",
    "babi/mean/accuracy": "bAbI, 20 tasks",
}
"""The numbers on official data in README, including weak results.

CLEVRER-Humans is left out: no notion of cause measured here beats a constant there (docs/findings.md).
"""
GENERATED = {
    "clevrer/predictive/per_question": "CLEVRER, predictive",
    "clevrer/counterfactual/per_question": "CLEVRER, counterfactual",
    "comphy/counterfactual/per_question": "ComPhy, counterfactual",
    "gqa/by_name/accuracy": "GQA, objects by name",
    "twin/joint": "Twin-EventLog, both arms right (specifications made here)",
}
"""The numbers of the sample profile in README, including weak results."""


def claims() -> Iterator[str]:
    """Yield the sentences that count the verdicts."""
    now = verdicts(ROOT)
    words = Counter(claim.verdict for claim in now)
    generated = sum((claim.verdict, claim.data) == ("undecided", "generated") for claim in now)
    decided = counts_in_words(claim for claim in now if claim.verdict not in OPEN)
    yield (
        f"Of the paper's {len(now)} claims, {decided}, all on parts of the official releases or by proof. "
        f"{sum(words[verdict] for verdict in OPEN)} cannot be decided with the data at hand: "
        f"{words['not compared']} set systems beside each other that read different inputs, {generated} were "
        f"measured on generated data alone, {words['undecided'] - generated} shows no clear difference, "
        f"{words['not measured']} were not measured."
    )


def verdict_table() -> Iterator[str]:
    """Yield the table of claims."""
    yield "| verdict | claim | paper | here | decided on |"
    yield "|---|---|---|---|---|"
    for claim in verdicts(ROOT):
        on = f"{claim.data}: {claim.on}" if claim.data != "none" else claim.on
        measured = claim.measured + (f" ({claim.direction})" if claim.direction else "")
        cells = (claim.verdict, f"{claim.claim} (`{claim.name}`)", claim.paper, measured, on)
        yield f"| {' | '.join(map(plain, cells))} |"


def ending() -> Iterator[str]:
    """Yield the last lines of a run without drift."""
    yield from (f"    {line}" for line in verdict_lines(ROOT, verdicts(ROOT)))


def official() -> Iterator[str]:
    """Yield the table of official data, with published systems."""
    heads = (
        "on parts of official releases; CLEVRER unless named",
        "n",
        "right",
        INTERVAL,
        BEST_TRIVIAL,
        PUBLISHED,
    )
    yield f"| {' | '.join(heads)} |"
    yield "|---|---|---|---|---|---|"
    rows = dict(pinned_rows(ROOT))
    # A number that no pin has yet is left out, until results are accepted.
    for number, caption in ((number, OFFICIAL[number]) for number in OFFICIAL if number in rows):
        row = rows[number]
        beside = "" if row[BESIDE] == NOT_REPORTED else row[BESIDE]
        test = f" ({row[PAIRED]})" if row.get(PAIRED) else ""
        cells = (caption, row["n"], row["right"], row[INTERVAL], row[BEST_TRIVIAL] + test, beside)
        yield f"| {' | '.join(cells)} |"


def generated() -> Iterator[str]:
    """Yield the table of generated data."""
    yield f"| on generated data | n | right | {INTERVAL} | {BEST_TRIVIAL} |"
    yield "|---|---|---|---|---|"
    counts = pinned_scores(ROOT, "sample")
    cells = {name: row for table in TABLES for name, row in pinned_cells(ROOT, "sample", table).items()}
    for number, caption in GENERATED.items():
        correct, n = counts[number]
        row = cells.get(number, {})
        trivial = row.get(BEST_TRIVIAL) or constant(number, cells)
        trivial += f" ({row[PAIRED]})" if row.get(PAIRED) else ""
        whole = name_of(number).subset in BENCHMARKS[name_of(number).benchmark].no_interval
        interval = "right by construction" if whole else bounds(correct, n)
        yield f"| {caption} | {n:,} | {share(correct, n)} | {interval} | {trivial} |"


def constant(number: str, cells: Mapping[str, Mapping[str, str]]) -> str:
    """Return the best constant's accuracy and name for a number, from a table whose columns are systems."""
    name, _, metric = number.partition("/")
    label = BENCHMARKS[name].table[0].labels[metric]
    by_constant = {
        caption.removeprefix(f"{label}, "): row["substrate"]
        for caption, row in cells.items()
        if f"{label}, always" in caption
    }
    best = max(by_constant, key=lambda constant: float(by_constant[constant].split()[0]))
    return f"{by_constant[best]} {best}"


def filled(text: str) -> str:
    """Fill the generated parts of a page from the pins."""
    for name, make in PARTS.items():
        if f"{name} -->" not in text:
            continue
        lines = make()
        marks = rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)"
        table = "".join(f"{line}\n" for line in lines)
        put = re.compile(marks, re.DOTALL).subn(lambda match, table=table: match[1] + table + match[2], text)
        text, places = put
        if not places:
            raise PinError(f"one of the two marks of the part {name!r} is missing", hint="Restore it")
    return text


def main() -> int:
    """Write the pages, or check them; return 1 if one differs from the pins."""
    stale = 0
    try:
        for profile in ("sample", *others_pinned(ROOT, "sample")):
            require_sound(profile_faults(ROOT, profile))
        texts = {name: (ROOT / name).read_text("utf-8") for name in PAGES}
        if absent := [part for part in PARTS if f"<!-- {part} -->" not in "".join(texts.values())]:
            raise PinError(f"no page has marks of the part {absent[0]!r}", where=(ROOT / PAGES[0],))
        pages = {name: filled(text) for name, text in texts.items()}
    except PinError as error:
        sys.exit(str(error))
    for name, now in pages.items():
        if "--check" not in sys.argv[1:]:
            (ROOT / name).write_text(now, "utf-8")
        elif now != texts[name]:
            sys.stderr.write(f"{name}: its numbers are not those of the pins; run scripts/readme.py\n")
            stale = 1
    return stale


PARTS = {
    "claims": claims,
    "ending": ending,
    "verdicts": verdict_table,
    "official": official,
    "generated": generated,
}
"""The makers of the generated parts, by the names of their marks."""
PAGES = ("README.md", "docs/claims.md")


if __name__ == "__main__":
    sys.exit(main())
