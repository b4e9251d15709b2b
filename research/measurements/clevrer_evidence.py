"""The evidence behind right answers from real detections, and its distance to the true record.

    python -m research.measurements.clevrer_evidence DATA [--all]

DATA holds `proposals.zip`, `explanatory_train.jsonl.gz` and `ground_truth_train.jsonl.gz`. The program
asks about the videos that are kept from every fit of perception; with `--all`, about all. The true record is
read once the answers stand.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from research.domains.perception.calibrate import is_aside
from research.domains.perception.format import decode_proposals, proposal_names
from research.domains.perception.log import perceived_log
from research.domains.perception.perceive import examined
from research.studies.evidence import frames_off
from substrate.base.numbered import sources_in
from substrate.cause.evidence import RECORDED
from substrate.domains.clevrer.deltas import events_log
from substrate.domains.clevrer.evidence import rests_on
from substrate.domains.clevrer.explain import explain
from substrate.domains.clevrer.format import read_questions, read_scene_events
from substrate.domains.clevrer.interpreter import answer_scene
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.scene import Scene

WITHIN = (0, 1, 3, 5, 10)
"""Frames within which events are counted."""


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    data: Path = given.data
    by_video = dict(read_questions(data / "explanatory_train.jsonl.gz").items())
    true = read_scene_events(data / "ground_truth_train.jsonl.gz")
    names = proposal_names(data / "proposals.zip")
    videos = [video for video in sorted(by_video.keys() & names) if given.all or is_aside(video)]
    rests: Counter[str] = Counter()
    off: list[int | None] = []
    for video, source in zip(
        videos, sources_in(data / "proposals.zip", [names[video] for video in videos]), strict=True
    ):
        log = perceived_log(examined(decode_proposals(source), source[0]))
        questions = {question.question_id: question for question in by_video[video].questions}
        seen, record = Scene(log), Scene(events_log(true[video]))
        for row in answer_scene(log, video, list(questions.values()), Parameters(), "train"):
            why = explain(log, video, questions[int(row.question)], Parameters())
            for part, choice in zip(why.parts, row.choices or (), strict=True):
                if choice.predicted == choice.expected:
                    rest = rests_on(why, part)
                    rests[rest.on] += 1
                    if rest.on == RECORDED:
                        off.append(frames_off(rest.event, seen, record))
    known = [frames for frames in off if frames is not None]
    sys.stdout.write(f"{len(videos)} videos, {rests.total()} right choices\n")
    sys.stdout.writelines(f"{on}: {n}\n" for on, n in rests.most_common())
    sys.stdout.write(f"of {len(off)} recorded events {len(known)} are in the true record\n")
    for frames in WITHIN:
        n = sum(distance <= frames for distance in known)
        sys.stdout.write(f"within {frames} frames: {n} of {len(off)} ({100 * n / len(off):.1f} %)\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
