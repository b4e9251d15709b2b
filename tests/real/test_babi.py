"""A real bAbI file: if our supporting facts differ from the file's, both prove the answer."""

from pathlib import Path

import pytest

from substrate.domains.babi.answers import answer_story
from substrate.domains.babi.format import Story, read_tasks
from substrate.domains.rows import Row

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "babi"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data/babi is absent")


def agrees(row: Row) -> bool:
    return row.supporting == tuple(sorted(set(row.expected_supporting or ())))


def test_where_facts_about_sizes_differ_ours_are_a_proof_and_no_longer_than_the_files() -> None:
    """The file always names a chain of two facts, also where one sentence says it all: both are proofs."""
    (file,) = (DATA / "en").glob("qa18_*")
    stories = {story.scene: story for story in read_tasks(file)}
    rows = [row for story in stories.values() for row in answer_story(story)]
    differing = [row for row in rows if not agrees(row)]
    assert differing
    for row in differing:
        story = stories[int(row.scene)]
        for facts in (row.supporting or (), row.expected_supporting or ()):
            needed = (line for line in story.lines if line.id in facts or line.id == row.question)
            (proved,) = answer_story(Story(story.file, "qa18", "train", story.scene, tuple(needed)))
            assert proved.predicted == row.expected
        assert len(row.supporting or ()) <= len(row.expected_supporting or ())
