"""Numbers and verdicts in words, the same on a terminal and in the report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from orchestration.lineage.number import NUMBERS
from orchestration.scoring.names import kind_and_variant, name_of
from orchestration.scoring.verdict import VERDICTS, ClaimVerdict


def label(number: str) -> str:
    """A number in words, as the tables say it.

    >>> label("ablations/predictive.C/per_question"), label("gqa/by_name/accuracy")
    ('Ablations on CLEVRER: motion after the video, C, per question', 'GQA: by name, accuracy')
    """
    benchmark, name = NUMBERS[number], name_of(number)
    labels = benchmark.table[0].labels
    kind, variant = kind_and_variant(name.subset)
    words = [labels[kind], variant] if kind in labels else [name.subset]
    text = ", ".join(filter(None, [*words, labels.get(name.metric, name.metric)]))
    return f"{benchmark.title}: {text}".replace("_", " ")


def in_words(text: str) -> str:
    """Put each number's words in place of its name.

    >>> in_words("no data for gqa/by_name/accuracy")
    'no data for GQA: by name, accuracy'
    """
    return re.sub(r"\w+/[\w./]+", lambda name: label(name[0]) if name[0] in NUMBERS else name[0], text)


def counts_in_words(now: Iterable[ClaimVerdict]) -> str:
    """Count verdicts in a sentence.

    >>> counts_in_words([])
    ''
    """
    counts = Counter(of.verdict for of in now)
    return ", ".join(f"{counts[of]} {words[counts[of] > 1]}" for of, words in VERDICTS.items() if counts[of])
