"""ComPhy's inference on real motion: CLEVRER's objects are equally heavy and without charge, and it must find
that.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from research.domains.comphy.properties import infer
from substrate.base.numbered import sources_in
from substrate.domains.clevrer.format import annotation_names, decode_annotation
from substrate.domains.comphy.format import Target


def test_real_scenes_have_neither_heavy_nor_charged_objects(real_data: Path) -> None:
    folder = real_data / "clevrer" / "annotations"
    ratios: list[float] = []
    for source in sources_in(folder, annotation_names(folder).values()):
        film = decode_annotation(source)
        inferred = infer(Target(film.scene_index, film, (film,)))
        assert set(inferred.masses.values()) == {1}
        assert set(inferred.charges.values()) == {0}
        ratios += [evidence.ratio for evidence in inferred.evidence if evidence.ratio]
    assert len(ratios) == 18
    assert sorted(ratios)[len(ratios) // 2] == pytest.approx(1.0, abs=0.2)
    assert max(ratios) < 5**0.5
    assert min(ratios) > 5**-0.5
