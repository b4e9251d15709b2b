"""`perceived`: a user's proposals, named in the part `clevrer` of a profile."""

from __future__ import annotations

from types import SimpleNamespace

from orchestration.benchmarks.clevrer import ClevrerData
from research.benchmarks.perceived import PerceivedData


def test_proposals_named_with_clevrer_are_what_perceived_reads() -> None:
    given = ClevrerData(source="local", proposals="p.zip", questions="q.json")
    profile = SimpleNamespace(clevrer=given)
    data = PerceivedData(source="local").among(profile)
    assert (data.source, data.proposals, data.questions) == ("local", "p.zip", "q.json")
    assert given.among(profile).questions is None, "there is nothing that CLEVRER's own logs could be made of"
    beside = PerceivedData(source="local", events="e.jsonl").among(profile)
    assert (beside.events, beside.proposals) == ("e.jsonl", "p.zip"), "the truth is perceived's alone"


def test_annotations_beside_proposals_keep_their_questions() -> None:
    given = ClevrerData(source="local", annotations="a.zip", proposals="p.zip", questions="q.json")
    profile = SimpleNamespace(clevrer=given)
    assert given.among(profile) == given
    assert PerceivedData(source="local").among(profile).annotations == "a.zip"


def test_a_generated_world_stays_one() -> None:
    given = PerceivedData(source="generated", scenes=3)
    assert given.among(SimpleNamespace(clevrer=ClevrerData(proposals="p.zip"))) == given
