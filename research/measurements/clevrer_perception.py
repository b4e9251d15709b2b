"""The accuracy of events perceived from NS-DR's proposals, and of answers from them.

    python -m research.measurements.clevrer_perception DATA [--part development|aside|future]

DATA holds proposals.zip, annotations/, explanatory_train.jsonl.gz and ground_truth_{train,test}.jsonl.gz.
Videos of the part development may be fitted to. They are judged by cross-validation: each fifth of them with
weights fitted to the others. The part aside, a fifth of all videos, is read by no fit, and judged with the
weights in force. The part future predicts the collisions after a frame from the frames up to it, in the
videos kept aside and in those that the benchmark `foretold` asks about. Prints the tables of
docs/perception.md, and the curve of docs/design/foretelling.md.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import hypot
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple

import msgspec
import numpy as np

from research.domains.calibration import binned, brier
from research.domains.perception.calibrate import fit_belief, is_kept_out
from research.domains.perception.format import decode_proposals, proposal_names
from research.domains.perception.judge import TrueEvents, hypotheses, lost, read_gold
from research.domains.perception.parameters import Perception
from research.domains.perception.perceive import ExaminedVideo, Perceived, examined, recorded
from research.domains.possible import answer_possible, decode_possible
from research.measurements.foretold_by_frame import future
from research.measurements.markdown import head, print_lines, row, with_interval
from substrate.base.numbered import sources_in
from substrate.domains.clevrer import format
from substrate.domains.clevrer.answers import answer_scene
from substrate.domains.clevrer.deltas import events_log
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.rows import Row

FOLDS, CLOSE = 5, 6  # the parts of the cross-validation, and the frames by which a right event may be off
PARTS = ("development", "aside", "future")
QUESTIONS = "explanatory_train.jsonl.gz"
BOUNDS = (0, 0.02, 0.2, 0.5, 0.8, 0.98, 1)
"""The bounds of bins of probability; narrow at both ends, since most events are sure or hardly possible."""


class Judged(NamedTuple):
    """A video as it is perceived, its examination, and the truth."""

    record: Perceived
    video: ExaminedVideo
    truth: TrueEvents


def examine(data: Path, part: Callable[[int], bool]) -> list[ExaminedVideo]:
    """The videos of a part, examined."""
    where = data / "proposals.zip"
    names = {n: name for n, name in proposal_names(where).items() if part(n)}
    return [examined(decode_proposals(source), source[0]) for source in sources_in(where, names.values())]


def cross_validated(videos: Sequence[ExaminedVideo], truth: Mapping[int, TrueEvents]) -> list[Judged]:
    """Each video with weights that were fitted to the other folds."""
    judged: list[Judged] = []
    for here in range(FOLDS):
        belief = fit_belief([v for v in videos if fold(v.seen.video) != here], truth=truth)
        judged += [
            Judged(recorded(v, belief=belief), v, truth[v.seen.video])
            for v in videos
            if fold(v.seen.video) == here
        ]
    return sorted(judged, key=lambda of: of.record.scene_index)


def fold(video: int) -> int:
    """The fold of a video that may be fitted to."""
    return video // 5 % FOLDS


def f1(predicted: int, true: int, both: int) -> list[str]:
    """Precision, recall and F1, in the cells of a table."""
    shares = both / max(1, predicted), both / max(1, true), 2 * both / max(1, predicted + true)
    return [f"{share:.4f}" for share in shares]


def events_table(judged: Sequence[Judged]) -> Iterator[str]:
    """Precision, recall and F1 of objects and of each kind of event."""
    counts: Counter[tuple[str, str]] = Counter()
    for record, video, truth in judged:
        looks = [path.look for path in video.paths]
        counts["objects", "found"] += len(looks)
        counts["objects", "true"] += len(truth.looks)
        counts["objects", "both"] += len(truth.looks & set(looks))
        counts["objects", "exact"] += truth.looks == set(looks)
        counts["collisions", "found"] += len(record.collisions)
        counts["collisions", "true"] += len(truth.collisions)
        for event in record.collisions:
            when = truth.collisions.get(frozenset(looks[n] for n in event.object))
            counts["collisions", "any"] += when is not None
            counts["collisions", "both"] += when is not None and abs(when - event.frame) <= CLOSE
        for kind, name in (("in", "entries"), ("out", "exits")):
            counts[name, "true"] += sum(what == kind for _, what in truth.crossings)
            for event in record.in_outs:
                if event.type == kind:
                    when = truth.crossings.get((looks[event.object], kind))
                    counts[name, "found"] += 1
                    counts[name, "both"] += when is not None and abs(when - event.frame) <= CLOSE
    yield f"\n{len(judged)} videos; all objects right in {counts['objects', 'exact']}.\n"
    yield head(f"within {CLOSE} frames", "precision", "recall", "F1", "true")
    for name in ("objects", "collisions", "entries", "exits"):
        yield row(
            name, *f1(*(counts[name, what] for what in ("found", "true", "both"))), counts[name, "true"]
        )
    whenever = f1(*(counts["collisions", what] for what in ("found", "true", "any")))
    yield row("collisions, whenever", *whenever, counts["collisions", "true"])
    yield ""


def answers(
    judged: Sequence[Judged], questions_of: Mapping[int, format.SceneQuestions], *, ensemble: bool = False
) -> list[Row]:
    """The rows of the questions about perceived videos, from the most probable log or all possible ones."""
    rows: list[Row] = []
    for record, _, _ in judged:
        if record.scene_index in questions_of:
            questions = questions_of[record.scene_index].questions
            source = (str(record.scene_index), msgspec.json.encode(record))
            if ensemble:
                rows += answer_possible(decode_possible(source), questions, Parameters(), "train")
            else:
                log = events_log(format.decode_scene_events(source))
                rows += answer_scene(log, record.scene_index, questions, Parameters(), "train")
    return rows


def accuracy(rows: Sequence[Row]) -> Iterator[object]:
    """The cells of a table: accuracy per question and per option, and how many questions have an error."""
    options = [c for answer in rows if answer.choices is not msgspec.UNSET for c in answer.choices]
    yield with_interval(sum(bool(answer.correct) for answer in rows), len(rows))
    yield with_interval(sum(c.predicted == c.expected for c in options), len(options))
    yield sum(answer.error is not msgspec.UNSET for answer in rows)


def reliability(judged: Sequence[Judged]) -> Iterator[str]:
    """The mean probability of hypotheses beside the share that is true, by kind, in bins of probability."""
    kinds: dict[str, list[tuple[float, bool]]] = {}
    for record, _, truth in judged:
        for hypothesis in hypotheses(record, truth):
            kinds.setdefault(hypothesis.kind, []).append((hypothesis.probability, hypothesis.true))
    for kind, of_kind in kinds.items():
        yield f"\n{kind}: {len(of_kind)} hypotheses, Brier score {brier(of_kind):.4f}\n"
        yield head("said", "hypotheses", "mean said", "came true")
        for (low, high), bin_ in binned(of_kind, BOUNDS).items():
            yield row(f"{low}–{high}", bin_.n, f"{bin_.said:.3f}", f"{bin_.share:.3f}")


def place_errors(data: Path, judged: Sequence[Judged]) -> Iterator[str]:
    """The error of places on the annotated videos, by distance from the camera and by occlusion."""
    where = data / "annotations"
    films = {
        film.scene_index: film
        for film in map(format.decode_annotation, sources_in(where, format.annotation_names(where).values()))
    }
    off: dict[str, list[float]] = {}
    for _, video, _ in judged:
        film = films.get(video.seen.video)
        if film is None:
            continue
        states = format.tracks(film)
        ids = {(o.color, o.material, o.shape): o.object_id for o in film.object_property}
        record = recorded(video)
        for number, path in enumerate(video.paths):
            if path.look not in ids:
                continue
            seen = dict(zip(path.frames.tolist(), path.places, strict=True))
            spread = dict(zip(path.frames.tolist(), np.trace(path.errors, axis1=1, axis2=2), strict=True))
            for frame, x, y in record.trajectory[number]:
                true = states[ids[path.look]][frame].location
                error = hypot(x - true[0], y - true[1])
                away = hypot(true[0] - video.camera.place[0], true[1] - video.camera.place[1])
                off.setdefault("filtered, all", []).append(error)
                side = "nearer" if away < 5 else "further"
                off.setdefault(f"filtered, {side} than 5 units", []).append(error)
                if frame in seen:
                    measured = hypot(seen[frame][0] - true[0], seen[frame][1] - true[1])
                    off.setdefault("measured, all", []).append(measured)
                    view = "partly hidden" if spread[frame] > 0.025**2 else "in full view"
                    off.setdefault(f"measured, {view}", []).append(measured)
                else:
                    off.setdefault("filtered, not seen", []).append(error)
    yield "\n| places (units) | n | median | 90 % below | 99 % below |\n|---|---|---|---|---|"
    for name, errors in sorted(off.items()):
        cut = quantiles(errors, n=100)
        yield f"| {name} | {len(errors)} | {cut[49]:.4f} | {cut[89]:.4f} | {cut[98]:.4f} |"


def causes(
    judged: Sequence[Judged],
    questions_of: Mapping[int, format.SceneQuestions],
    real: Mapping[int, format.SceneEvents],
) -> Iterator[str]:
    """The stage that each wrong answer was lost to."""
    by_scene = {record.scene_index: (record, video) for record, video, _ in judged}
    for answer in answers(judged, questions_of):
        if not answer.correct:
            record, video = by_scene[int(answer.scene)]
            (question,) = (
                q for q in questions_of[record.scene_index].questions if q.question_id == answer.question
            )
            why = lost(video, record, events_log(real[record.scene_index]), question, Perception())
            yield f"- {record.scene_index}/{answer.question}: {why.stage}; {why.words}"


def report(
    title: str, judged: Sequence[Judged], questions_of: Mapping[int, format.SceneQuestions]
) -> Iterator[str]:
    """All tables of a part."""
    yield f"\n## {title}"
    yield from events_table(judged)
    yield head("answers", "per question", "per option", "could not run")
    yield row("most probable log", *accuracy(answers(judged, questions_of)))
    yield row("all possible worlds", *accuracy(answers(judged, questions_of, ensemble=True)))
    yield from reliability(judged)


def measured(data: Path, part: str) -> Iterator[str]:
    """The tables of a part of the videos, each with its heading."""
    files = [data / f"ground_truth_{split}.jsonl.gz" for split in ("train", "test")]
    real = {n: events for file in files for n, events in format.read_scene_events(file).items()}
    if part == "future":
        yield from future(data, real)
        return
    truth, questions_of = read_gold(files), dict(format.read_questions(data / QUESTIONS).items())
    if part == "aside":
        seen = examine(data, is_kept_out)
        judged = [Judged(recorded(v), v, truth[v.seen.video]) for v in seen]
        yield from report("Kept aside from every fit", judged, questions_of)
    else:
        judged = cross_validated(examine(data, lambda number: not is_kept_out(number)), truth)
        yield from report("Cross-validated on the videos that may be fitted to", judged, questions_of)
        yield from place_errors(data, judged)
    yield "\nLost to:"
    yield from causes(judged, questions_of, real)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Measure perceived events, and answers from them.")
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", choices=PARTS, default="development")
    given = parser.parse_args()
    return print_lines(measured(given.data, given.part))


if __name__ == "__main__":
    raise SystemExit(main())
