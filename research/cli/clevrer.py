"""`substrate predict clevrer` and `perceive clevrer`: the future and the events of a user's own files.

Each command has a function that takes its options, and below one that reads, computes and writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from research.domains.foretelling.predict import predict_collisions
from research.domains.perception.format import decode_proposals, proposal_names
from research.domains.perception.log import perceived_log
from research.domains.perception.perceive import examined, recorded
from substrate.base.errors import FormatError
from substrate.base.files import filling, replacing, require_other
from substrate.base.numbered import sources_in
from substrate.cli.console import JsonOption, give, option, speaking_as
from substrate.cli.events import speaking
from substrate.domains.clevrer.trajectories import read_trajectories

predict_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
perceive_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


class Prediction(msgspec.Struct, frozen=True):
    """A line of the output: the sorted pairs of a scene that are predicted to collide after frame ``at``."""

    scene: int
    at: int
    collisions: list[tuple[int, int]]


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
        Path, option("--out", "Output, one line per scene: the pairs that will collide.", metavar="OUT.jsonl")
    ],
    until: Annotated[int, option("--until", "The last frame of the prediction.")] = 127,
    json: JsonOption = False,
) -> None:
    """Predict the collisions of the unseen future from observed motion, by the calibrated simulator."""
    frames = sorted(set(at))
    require_other(out_, [trajectories])
    # The events that `speaking_as` began go on here, with progress
    with speaking("predict") as progress:
        advance = partial(progress.advance, "clevrer", unit="scenes")
        scenes, collisions = _predict(trajectories, frames, until, out_, advance)
    line = f"{scenes} scenes, {collisions} collisions predicted in frames {frames[0] + 1} to {until}"
    give({"scenes": scenes, "collisions": collisions, "from": frames[0] + 1, "to": until}, [line], json=json)


@perceive_app.command("clevrer")
@speaking_as("perceive")
def perceive_clevrer(
    proposals: Annotated[
        Path, option("--proposals", "NS-DR's processed proposals, sim_NNNNN.json.", metavar="DIR_OR_ZIP")
    ],
    out_: Annotated[
        Path, option("--out", "Output, one line per video, for `answer --events`.", metavar="EVENTS.jsonl")
    ],
    logs: Annotated[
        Path | None, option("--logs", "A folder for the event logs of the videos.", metavar="DIR")
    ] = None,
    until: Annotated[int | None, option("--until", "The last frame that may be read.", min=0)] = None,
    json: JsonOption = False,
) -> None:
    """Perceive objects, entries, exits and collisions, each with its probability, from each frame's masks."""
    require_other(out_, [proposals])
    # As in `predict`, the outer events go on
    with speaking("perceive") as progress:
        advance = partial(progress.advance, "clevrer", unit="videos")
        videos, objects, collisions = _perceive(proposals, out_, logs, until, advance)
    line = f"{videos} videos, {objects} objects, {collisions} collisions perceived"
    give({"videos": videos, "objects": objects, "collisions": collisions}, [line], json=json)


def _predict(
    trajectories: Path, frames: Sequence[int], until: int, out: Path, advance: Callable[[int, int], None]
) -> tuple[int, int]:
    """Write the predictions for each scene from each frame; positions of later frames are never read.

    Returns:
        The numbers of scenes and of predicted collisions.
    """
    scenes = read_trajectories(trajectories)
    for number, scene in scenes.items():
        if scene.until is not None and scene.until > frames[0]:
            raise FormatError(
                f"places of scene {number} rest on frames up to {scene.until}, later than --at {frames[0]}",
                where=(trajectories,),
                hint=f"Make the file with `substrate perceive clevrer --until {frames[0]}`",
            )
    collisions = 0
    with replacing(out) as fresh, fresh.open("wb") as file:
        for done, (number, scene) in enumerate(scenes.items(), start=1):
            for at in frames:
                predicted = predict_collisions(scene.objects, scene.trajectory, at, until)
                collisions += len(predicted)
                line = msgspec.json.encode(Prediction(number, at, predicted))
                file.write(msgspec.json.format(line, indent=0) + b"\n")
            advance(done, len(scenes))
    return len(scenes), collisions


def _perceive(
    proposals: Path, out: Path, logs: Path | None, until: int | None, advance: Callable[[int, int], None]
) -> tuple[int, int, int]:
    """Perceive every video of a folder or zip, in the order of their numbers.

    Args:
        logs: a folder to write the videos' event logs to; ``None`` writes no logs.
        until: the last frame that may be read; ``None`` allows all frames.

    Returns:
        The numbers of videos, objects and collisions.
    """
    names = proposal_names(proposals)
    objects = collisions = 0
    target = filling(logs) if logs else nullcontext()
    with replacing(out) as fresh, target as folder, fresh.open("wb") as file:
        for done, source in enumerate(sources_in(proposals, names.values()), start=1):
            video = examined(decode_proposals(source), source[0], until=until)
            record = recorded(video)
            objects, collisions = objects + len(record.objects), collisions + len(record.collisions)
            file.write(msgspec.json.encode(record) + b"\n")
            if folder:
                perceived_log(video, record).save(folder / f"{record.scene_index:05d}.rdfp")
            advance(done, len(names))
    return len(names), objects, collisions
