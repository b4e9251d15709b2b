"""Write ``constants.json`` from official data.

    python -m research.domains.perception.calibrate PROPOSALS ANNOTATIONS EVENTS… [--out FILE]

PROPOSALS is a folder or zip of NS-DR's proposals. ANNOTATIONS, a folder or zip of official annotations of
some of their videos, determines the camera. EVENTS, files of true events, determine the weights of the
evidence. A fifth of the videos is kept out of every fit: videos whose number leaves :data:`ASIDE` when
divided by :data:`PARTS` are not read.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from research.domains.objects import look_of
from research.domains.perception.belief import Belief, contact_terms, crossing_terms, fit
from research.domains.perception.borders import Crossing
from research.domains.perception.camera import CAMERA, CUBE, Camera
from research.domains.perception.collisions import Contact
from research.domains.perception.format import proposal_names
from research.domains.perception.judge import TrueEvents, read_gold
from research.domains.perception.masks import sightings
from research.domains.perception.perceive import ExaminedVideo, examined, read_videos
from substrate.base.errors import FormatError, SubstrateError
from substrate.base.extras import import_extra
from substrate.base.files import write_json
from substrate.base.numbered import sources_in
from substrate.domains.clevrer.format import SHAPES, Annotation, annotation_names, decode_annotation

PARTS, ASIDE = 5, 4


def is_kept_out(video: int) -> bool:
    """Tell whether a video is kept out of every fit.

    >>> [video for video in range(10) if is_kept_out(video)]
    [4, 9]
    """
    return video % PARTS == ASIDE


def fitting_videos(proposals: Path, camera: Camera) -> Iterator[ExaminedVideo]:
    """The videos that are not kept out of the fits, examined."""
    numbers = [number for number in proposal_names(proposals) if not is_kept_out(number)]
    for name, video in read_videos(proposals, numbers):
        yield examined(video, name, camera=camera)


def is_true_contact(video: ExaminedVideo, contact: Contact, truth: TrueEvents) -> bool:
    """Tell whether a hypothesis of a contact is true."""
    return frozenset(video.paths[body].look for body in contact.pair) in truth.collisions


def is_true_crossing(video: ExaminedVideo, crossing: Crossing, truth: TrueEvents) -> bool:
    """Tell whether a body really entered or left."""
    return (video.paths[crossing.object].look, crossing.type) in truth.crossings


def fit_belief(videos: Iterable[ExaminedVideo], truth: Mapping[int, TrueEvents]) -> Belief:
    """Fit the weights that make the true events likeliest."""
    videos = list(videos)
    hits = [
        (contact_terms(c), is_true_contact(v, c, truth[v.seen.video])) for v in videos for c in v.contacts
    ]
    # The entries and exits that a video may have depend on the contacts that are believed.
    belief = Belief(fit(*_columns(hits)), (), ())
    weights: list[tuple[float, ...]] = []
    for kind in ("in", "out"):
        borders = [
            (crossing_terms(c), is_true_crossing(v, c, truth[v.seen.video]))
            for v in videos
            for c in v.crossings(belief)
            if c.type == kind
        ]
        weights.append(fit(*_columns(borders)))
    return Belief(belief.collision, *weights)


def _columns(judged: list[tuple[list[float], bool]]) -> tuple[list[list[float]], list[bool]]:
    return [terms for terms, _ in judged], [true for _, true in judged]


class Silhouette(NamedTuple):
    """A silhouette clear of the borders, and the state of its body."""

    shape: int
    x: float
    y: float
    z: float
    yaw: float
    box: np.ndarray


def silhouettes(proposals: Path, annotations: Iterable[Annotation]) -> list[Silhouette]:
    """Every proposal of an annotated video that is clear of the border, with the state of its body."""
    films = {film.scene_index: film for film in annotations if not is_kept_out(film.scene_index)}
    clear_of_border: list[Silhouette] = []
    for name, video in read_videos(proposals, films):
        film, seen = films[video.video_index], sightings(video, name)
        ids = {o.object_id: look_of(o) for o in film.object_property}
        bodies = {
            (frame.frame_id, ids[state.object_id]): state
            for frame in film.motion_trajectory
            for state in frame.objects
        }
        left, top, right, bottom = seen.boxes.T
        clear = (left > 2) & (top > 2) & (right < seen.width - 2) & (bottom < seen.height - 2)
        for place in np.flatnonzero(clear):
            state = bodies.get((int(seen.frames[place]), seen.looks[place]))
            if state is not None:
                shape = SHAPES.index(seen.looks[place].shape)
                where = (*state.location, state.orientation[2])
                clear_of_border.append(Silhouette(shape, *where, seen.boxes[place]))
    return clear_of_border


def fit_camera(known: list[Silhouette], start: Camera = CAMERA) -> Camera:
    """Fit the camera to the boxes of known bodies: robust least squares over their edges.

    The median error of each edge, by shape, becomes the offset of the detector's boxes.
    """
    optimize: Any = import_extra("scipy.optimize")
    first = [start.focal, *start.centre, *start.place, *start.angles, *start.half]
    scale = [100, 10, 10, 1, 1, 1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01]

    def camera(values: Iterable[float]) -> Camera:
        numbers = [round(float(value), 6) for value in values]
        none = ((0.0, 0.0, 0.0, 0.0),) * len(SHAPES)
        f, u, v, x, y, z, a, b, c, cube, ball, can = numbers
        return Camera(start.width, start.height, f, (u, v), (x, y, z), (a, b, c), (cube, ball, can), none)

    groups = {shape: [body for body in known if body.shape == shape] for shape in range(len(SHAPES))}

    def residuals(values: Iterable[float]) -> np.ndarray:
        return np.concatenate([_errors(camera(values), group) for group in groups.values() if group]).ravel()

    solution = optimize.least_squares(
        residuals, first, loss="soft_l1", f_scale=1.0, x_scale=scale, max_nfev=60, diff_step=1e-5
    )
    best = camera(solution.x)
    offsets = [
        tuple(round(float(error), 3) for error in np.median(_errors(best, group), 0)) if group else (0.0,) * 4
        for group in groups.values()
    ]
    return msgspec.structs.replace(best, offsets=tuple(offsets))


def _errors(camera: Camera, group: list[Silhouette]) -> np.ndarray:
    """Detected minus predicted edges (n, 4) of the boxes of bodies of one shape (pixels)."""
    x, y, yaw = (np.array([getattr(body, name) for body in group]) for name in ("x", "y", "yaw"))
    shape = group[0].shape
    expected = camera.boxes(shape, x, y, yaw if shape == CUBE else np.zeros_like(yaw))
    return np.array([body.box for body in group]) - expected


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return 0 if done, 1 for wrong input."""
    parser = argparse.ArgumentParser(prog="calibrate", description="Fit perception to official data.")
    parser.add_argument("proposals", type=Path, help="folder or zip of NS-DR's proposals")
    parser.add_argument("annotations", type=Path, help="folder or zip of official annotations")
    parser.add_argument("events", type=Path, nargs="+", help="JSON lines of true events of the same videos")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("constants.json"))
    given = parser.parse_args(arguments)
    try:
        names = annotation_names(given.annotations).values()
        films = [decode_annotation(source) for source in sources_in(given.annotations, names)]
        known = silhouettes(given.proposals, films)
        if not known:
            raise FormatError(
                "none of its videos has proposals",
                where=(given.annotations,),
                hint="Give annotations of the videos of the proposals",
            )
        camera = fit_camera(known)
        belief = fit_belief(fitting_videos(given.proposals, camera), read_gold(given.events))
    except SubstrateError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    write_json(given.out, {"camera": camera, "belief": belief}, indent=2)
    sys.stdout.write(f"{given.out}: camera from {len(known)} silhouettes, weights of events\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
