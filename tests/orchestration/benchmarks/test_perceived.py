"""`perceived` in the profile `local`: a user's proposals, named where the rest of CLEVRER is."""

from __future__ import annotations

from types import SimpleNamespace

from orchestration.benchmarks.clevrer import ClevrerData
from orchestration.benchmarks.perceived import PerceivedData


def test_proposals_named_with_clevrer_are_what_perceived_reads() -> None:
    given = ClevrerData(source="local", proposals="p.zip", questions="q.json")
    profile = SimpleNamespace(clevrer=given)
    found = PerceivedData(source="local").among(profile)
    assert (found.source, found.proposals, found.questions) == ("local", "p.zip", "q.json")
    assert given.among(profile).questions is None, "there is nothing that CLEVRER's own logs could be made of"


def test_annotations_beside_proposals_keep_their_questions() -> None:
    given = ClevrerData(source="local", annotations="a.zip", proposals="p.zip", questions="q.json")
    assert given.among(SimpleNamespace(clevrer=given)) == given


def test_a_generated_world_stays_one() -> None:
    given = PerceivedData(source="generated", scenes=3)
    assert given.among(SimpleNamespace(clevrer=ClevrerData(proposals="p.zip"))) == given
