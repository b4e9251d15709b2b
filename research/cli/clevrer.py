"""`substrate predict clevrer` and `perceive clevrer`: the future and the events of a user's own files."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from research.domains.foretelling.predict import predict_collisions
from research.domains.foretelling.trajectories import read_trajectories
from research.domains.perception.format import decode_proposals, proposal_names
from research.domains.perception.log import perceived_log
from research.domains.perception.perceive import examined, recorded
from substrate.base.errors import FormatError
from substrate.base.files import replacing
from substrate.base.numbered import sources_in
from substrate.cli.console import JsonOption, failing, give, option, say, speaking_as
from substrate.cli.events import speaking
from substrate.cli.notices import others_apart
from substrate.domains.clevrer.format import read_scene_events

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
    at: Annotated[int, option("--at", "The last frame that may be known.", min=0)],
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
    json: JsonOption = False,
) -> None:
    """Collisions of the unseen future from observed motion, by the calibrated simulator."""
    with failing(), others_apart(), speaking("predict") as told:
        advance = partial(told.advance, "clevrer", unit="scenes")
        scenes, collisions = _predict(trajectories, events, at, until, out_, advance)
    line = f"{scenes} scenes, {collisions} collisions predicted in frames {at + 1} to {until}"
    found = {"scenes": scenes, "collisions": collisions, "from": at + 1, "to": until}
    if not give(found, line, json=json):
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
    at: int,
    until: int,
    out: Path,
    advance: Callable[[int, int], None],
) -> tuple[int, int]:
    """Predict every scene of a trajectory file; frames after ``at`` are never read.

    Args:
        events: event records of the same scenes, of which only collisions up to ``at`` are read; without
            them, which pairs have collided already is inferred from the motion.

    Returns:
        How many scenes there are, and how many collisions are predicted.
    """
    scenes = list(read_trajectories(trajectories).values())
    known = read_scene_events(events) if events else None
    if known is not None and (missing := [s.scene_index for s in scenes if s.scene_index not in known]):
        raise FormatError(
            f"has no record of scene {missing[0]}",
            where=(events or "",),
            hint="Give the events of the scenes of the trajectories",
        )
    total = 0
    with replacing(out) as fresh, fresh.open("wb") as file:
        for done, scene in enumerate(scenes, start=1):
            met = (
                None
                if known is None
                else [
                    (min(c.object), max(c.object))
                    for c in known[scene.scene_index].collisions
                    if c.frame <= at
                ]
            )
            found = predict_collisions(scene.objects, scene.trajectory, at, until, met=met)
            total += len(found)
            file.write(
                msgspec.json.format(msgspec.json.encode(Prediction(scene.scene_index, at, found)), indent=0)
                + b"\n"
            )
            advance(done, len(scenes))
    return len(scenes), total


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
                found = recorded(video)
                objects, collisions = objects + len(found.objects), collisions + len(found.collisions)
                file.write(msgspec.json.encode(found) + b"\n")
                if folder:
                    perceived_log(video, found).save(folder / f"{found.scene_index:05d}.rdfp")
                advance(done, len(names))
    return len(names), objects, collisions
