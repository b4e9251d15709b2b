"""Twin-EventLog: specifications to rows, compared with rules that all run again after any change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from benchmarks.speed.measure import Bench, Pair
from substrate.domains.rows import encode
from substrate.domains.smallville.format import Spec
from substrate.domains.smallville.twin import replay_twin, twin_rows, village_tbox
from substrate.generators.smallville import spec_line
from substrate.rules.tbox import TBox

_MADE = 36
"""The number of specifications that are drawn, some of each cell; a larger size repeats them."""


def _answered(specs: Sequence[Spec], tbox: TBox) -> list[bytes]:
    return [encode(row) for spec in specs for row in twin_rows(spec, None, replay_twin(spec, tbox))]


@contextmanager
def spec_rows(size: int) -> Iterator[Pair]:
    """The rows of both arms of specifications, by rules that run again only if a triple changed that they
    read, beside rules that may read any triple; the rows are the same.
    """
    decoder = msgspec.json.Decoder(Spec)
    distinct = [decoder.decode(spec_line(number, 20)) for number in range(min(size, _MADE))]
    specs = [distinct[place % len(distinct)] for place in range(size)]
    tbox = village_tbox()
    # A query with a BASE is not analysed: it counts as one that may read any triple.
    plain = TBox(tbox.name, tbox.turtle.replace('"CONSTRUCT', '"BASE <urn:whole:> CONSTRUCT'))
    assert _answered(distinct, tbox) == _answered(distinct, plain)
    yield Pair(lambda: _answered(specs, tbox), lambda: _answered(specs, plain))


TWIN = {"twin": Bench("specifications to rows", "rules that look at anything", (20, 60), spec_rows, goal=1.1)}
"""Benches of Twin-EventLog by name."""
