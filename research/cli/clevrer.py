"""`substrate predict clevrer` and `perceive clevrer`: the future and the events of a user's own files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from research.domains.foretelling.predict import predict_collisions
from research.domains.foretelling.trajectories import TrajectoryScene, read_trajectories
from research.domains.perception.format import decode_proposals, proposal_names
from research.domains.perception.log import perceived_log
from research.domains.perception.masks import looks_of
from research.domains.perception.perceive import examined, recorded
from substrate.base.errors import FormatError
from substrate.base.files import replacing
from substrate.base.numbered import sources_in
from substrate.cli.console import JsonOption, failing, give, option, say, speaking_as
from substrate.cli.events import speaking
from substrate.cli.notices import others_apart
from substrate.domains.clevrer.format import SceneEvents, read_scene_events

predict_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
perceive_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@predict_app.command("clevrer")
@speaking_as("predict")
def predict_clevrer(
    trajectories: Annotated[
        Path,
        option(
            "--trajectories",
            "JSON lines of objects and their positions by frame; may be gzip.",
            metavar="FILE",
        ),
    ],
    at: Annotated[list[int], option("--at", "The last frame that may be known; repeat for several.", min=0)],
    out_: Annotated[
        Path, option("--out", "A line a scene: the pairs that will collide.", metavar="OUT.jsonl")
    ],
    until: Annotated[int, option("--until", "The last frame of the prediction.")] = 127,
    events: Annotated[
        Path | None,
        option(
            "--events",
            "Event records: which pairs have collided by --at; inferred from the motion without it.",
            metavar="FILE",
        ),
    ] = None,
    truth: Annotated[
        Path | None,
        option("--truth", "True event records, to say how good the predictions are.", metavar="FILE"),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Collisions of the unseen future from observed motion, by the calibrated simulator."""
    frames = sorted(set(at))
    with failing(), others_apart(), speaking("predict") as told:
        happened = read_scene_events(truth) if truth else {}
        advance = partial(told.advance, "clevrer", unit="scenes")
        scenes, made = _predict(trajectories, events, frames, until, out_, advance)
        judged = [_judged(scenes, made, happened, frame, until) for frame in frames if truth]
    collisions = sum(len(line.collisions) for line in made)
    lines = [f"{len(scenes)} scenes, {collisions} collisions predicted in frames {frames[0] + 1} to {until}"]
    lines += [
        f"from frame {row['at']}, {row['scenes']} scenes: F1 {row['seen']:.3f} of objects seen by then, "
        f"{row['all']:.3f} with later ones"
        for row in judged
    ]
    counts = {"scenes": len(scenes), "collisions": collisions, "from": frames[0] + 1, "to": until}
    if not give(counts | ({"f1": judged} if truth else {}), "\n".join(lines), json=json):
        for line in lines:
            say(line)


@perceive_app.command("clevrer")
@speaking_as("perceive")
def perceive_clevrer(
    proposals: Annotated[
        Path,
        option("--proposals", "NS-DR's processed proposals, sim_NNNNN.json.", metavar="DIR_OR_ZIP"),
    ],
    out_: Annotated[
        Path,
        option("--out", "A line a video, which `answer --events` takes.", metavar="EVENTS.jsonl"),
    ],
    logs: Annotated[
        Path | None,
        option("--logs", "A folder for the event log of each video too.", metavar="DIR"),
    ] = None,
    until: Annotated[int | None, option("--until", "The last frame that may be read.", min=0)] = None,
    json: JsonOption = False,
) -> None:
    """Objects, entries, exits and collisions, each with its probability, from each frame's masks."""
    with failing(), others_apart(), speaking("perceive") as told:
        advance = partial(told.advance, "clevrer", unit="videos")
        videos, objects, collisions = _perceive(proposals, out_, logs, until, advance)
    line = f"{videos} videos, {objects} objects, {collisions} collisions perceived"
    if not give({"videos": videos, "objects": objects, "collisions": collisions}, line, json=json):
        say(line)


class Prediction(msgspec.Struct, frozen=True):
    """A line of the output: the pairs of a scene that are predicted to collide after frame ``at``, sorted."""

    scene: int
    at: int
    collisions: list[tuple[int, int]]


def _predict(
    trajectories: Path,
    events: Path | None,
    frames: Sequence[int],
    until: int,
    out: Path,
    advance: Callable[[int, int], None],
) -> tuple[dict[int, TrajectoryScene], list[Prediction]]:
    """The scenes of a trajectory file, and what is predicted of each from each frame; later ones are never
    read.

    Args:
        events: event records of the same scenes, of which only collisions up to a frame are read; without
            them, which pairs have collided already is inferred from the motion.
    """
    scenes = read_trajectories(trajectories)
    known = read_scene_events(events) if events else None
    for number, scene in scenes.items():
        if known is not None and number not in known:
            raise FormatError(
                f"has no record of scene {number}",
                where=(events or "",),
                hint="Give the events of the scenes of the trajectories",
            )
        if scene.until is not None and scene.until > frames[0]:
            raise FormatError(
                f"places of scene {number} rest on frames up to {scene.until}, later than --at {frames[0]}",
                where=(trajectories,),
                hint=f"Make the file with `substrate perceive clevrer --until {frames[0]}`",
            )
    made: list[Prediction] = []
    with replacing(out) as fresh, fresh.open("wb") as file:
        for done, (number, scene) in enumerate(scenes.items(), start=1):
            for at in frames:
                hits = None if known is None else known[number].collisions
                met = None if hits is None else [hit.object for hit in hits if hit.frame <= at]
                predicted = predict_collisions(scene.objects, scene.trajectory, at, until, met=met)
                made.append(Prediction(number, at, predicted))
                file.write(msgspec.json.format(msgspec.json.encode(made[-1]), indent=0) + b"\n")
            advance(done, len(scenes))
    return scenes, made


def _judged(
    scenes: Mapping[int, TrajectoryScene],
    made: Iterable[Prediction],
    happened: Mapping[int, SceneEvents],
    at: int,
    until: int,
) -> dict[str, float]:
    """F1 of the predictions from a frame, in the scenes whose truth is known: among the objects that were
    seen by then, and of all collisions.

    Objects are told by their looks, since who perceived them numbered them anew.
    """
    count = Counter[str]()
    for line in made:
        if line.at != at or line.scene not in happened:
            continue
        scene, truth = scenes[line.scene], happened[line.scene]
        own, true = looks_of(scene.objects), looks_of(truth.objects)
        seen = {own[name] for name, points in scene.trajectory.items() if points and points[0][0] <= at}
        told = {frozenset(own[name] for name in pair) for pair in line.collisions}
        came = {frozenset(true[n] for n in hit.object) for hit in truth.collisions if at < hit.frame <= until}
        count["scenes"] += 1
        count["right"] += 2 * len(told & came)
        count["all"] += len(told) + len(came)
        count["seen"] += len(told) + sum(pair <= seen for pair in came)
    return {"at": at, "scenes": count["scenes"]} | {
        name: round(count["right"] / max(1, count[name]), 4) for name in ("seen", "all")
    }


def _perceive(
    proposals: Path, out: Path, logs: Path | None, until: int | None, advance: Callable[[int, int], None]
) -> tuple[int, int, int]:
    """Perceive every video of a folder or zip, in the order of their numbers.

    Args:
        logs: a folder that becomes that of the videos' event logs; none is written where ``None``.
        until: the last frame that may be read; all where ``None``.

    Returns:
        How many videos, objects and collisions there are.
    """
    names = proposal_names(proposals)
    objects = collisions = 0
    with replacing(out) as fresh, replacing(logs) if logs else nullcontext() as folder:
        if folder:
            folder.mkdir()
        with fresh.open("wb") as file:
            for done, source in enumerate(sources_in(proposals, names.values()), start=1):
                video = examined(decode_proposals(source), source[0], until=until)
                record = recorded(video)
                objects, collisions = objects + len(record.objects), collisions + len(record.collisions)
                file.write(msgspec.json.encode(record) + b"\n")
                if folder:
                    perceived_log(video, record).save(folder / f"{record.scene_index:05d}.rdfp")
                advance(done, len(names))
    return len(names), objects, collisions
