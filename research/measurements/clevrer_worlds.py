"""The generated CLEVRER world beside real scenes.

    python -m research.measurements.clevrer_worlds fit     REAL
    python -m research.measurements.clevrer_worlds select  REAL [--scenes N]
    python -m research.measurements.clevrer_worlds compare REAL [--scenes N] [--figure FILE]

``fit`` writes substrate/generators/clevrer/measured.json; ``select`` generates scenes, and adds the shares of
scenes to keep; ``compare`` prints the table of docs/design/worlds.md, and draws its figure.

REAL holds ``ground_truth_train.jsonl.gz``, ``ground_truth_test.jsonl.gz``, ``trajectories_test.jsonl.gz`` and
``annotations/``. Constants come from the events of the first, the even scenes of the third and the
annotations. Generated scenes are then compared with the events of the second and the odd scenes of the third,
which no constant has seen.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from research.measurements.clevrer_fit import measure, select
from research.measurements.clevrer_statistics import (
    HISTOGRAMS,
    Clip,
    annotated,
    collected,
    distances,
    recorded,
)
from research.measurements.markdown import head, print_lines, row
from substrate.base.files import write_json
from substrate.base.numbered import sources_in
from substrate.domains.clevrer.format import annotation_names, decode_annotation, read_scene_events
from substrate.domains.clevrer.trajectories import read_trajectories
from substrate.generators.clevrer import generate_annotation
from substrate.generators.clevrer.measured import FILE, MEASURED, Measured

SEED = 20
FIRST_SCENE = 10_000


class Real(NamedTuple):
    """Clips of real scenes: fitted to or kept out, each without and with motion."""

    fitted: list[Clip]
    fitted_motion: list[Clip]
    kept_out: list[Clip]
    kept_out_motion: list[Clip]


def read_real(folder: Path) -> Real:
    """The clips of a folder."""
    train, test = (
        read_scene_events(folder / f"ground_truth_{split}.jsonl.gz") for split in ("train", "test")
    )
    tracks = read_trajectories(folder / "trajectories_test.jsonl.gz")
    even, odd = (
        [recorded(test[scene], track.trajectory) for scene, track in tracks.items() if scene % 2 == half]
        for half in (0, 1)
    )
    return Real(list(map(recorded, train.values())), even, list(map(recorded, test.values())), odd)


def fitted(folder: Path, real: Real) -> Measured:
    """The constants that real scenes alone determine."""
    annotations = [
        decode_annotation(source)
        for source in sources_in(folder / "annotations", annotation_names(folder / "annotations").values())
    ]
    return measure(real.fitted, real.fitted_motion, annotations)


def selected(folder: Path, real: Real, scenes: int) -> Measured:
    """These constants with the shares of scenes to keep, from scenes of another seed than those compared."""
    in_force = replace(
        fitted(folder, real), kept_collisions=MEASURED.kept_collisions, kept_exits=MEASURED.kept_exits
    )
    return select(in_force, real.fitted, generated(scenes, SEED + 1))


def generated(scenes: int, seed: int = SEED) -> list[Clip]:
    """Clips of generated scenes."""
    with ProcessPoolExecutor() as pool:
        return list(pool.map(_clip, range(FIRST_SCENE, FIRST_SCENE + scenes), repeat(seed), chunksize=10))


def _clip(scene: int, seed: int) -> Clip:
    return annotated(generate_annotation(scene, seed))


def table(clips: Sequence[Clip], real: Real) -> Iterator[str]:
    """The distance of generated scenes from the real ones kept out, for each statistic.

    In brackets is the distance of as many real scenes that the fit has seen.
    """
    yield head("statistic", "total variation", "(real)", "Kolmogorov–Smirnov", "(real)")
    made, kept_out, kept_out_motion = map(collected, (clips, real.kept_out, real.kept_out_motion))
    seen, seen_motion = (collected(scenes[: len(clips)]) for scenes in (real.fitted, real.fitted_motion))
    events, motion = distances(made, kept_out), distances(made, kept_out_motion)
    floor_events, floor_motion = distances(seen, kept_out), distances(seen_motion, kept_out_motion)
    for name, histogram in HISTOGRAMS.items():
        measured, floor = (
            (motion[name], floor_motion[name]) if histogram.moving else (events[name], floor_events[name])
        )
        ks = [
            "–" if distance.kolmogorov_smirnov is None else f"{distance.kolmogorov_smirnov:.3f}"
            for distance in (measured, floor)
        ]
        totals = (f"{distance.total_variation:.3f}" for distance in (measured, floor))
        yield row(histogram.title, *totals, *ks)


def figure(path: Path, clips: Sequence[Clip], real: Real) -> None:
    """Every histogram: real scenes filled, generated ones as a line; the same bytes from the same clips."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "worlds", "svg.fonttype": "none", "font.size": 7}
    mpl.rcParams |= {"axes.spines.top": False, "axes.spines.right": False}
    from matplotlib import pyplot as plt

    columns = 4
    chart, axes = plt.subplots(
        -(-len(HISTOGRAMS) // columns), columns, figsize=(10, 11), layout="constrained"
    )
    for axis in axes.flat[len(HISTOGRAMS) :]:
        axis.set_axis_off()
    for axis, histogram in zip(axes.flat, HISTOGRAMS.values(), strict=False):
        places = range(len(histogram.bins))
        edges = [place - 0.5 for place in range(len(places) + 1)]
        seen = histogram.collect(real.kept_out_motion if histogram.moving else real.kept_out)
        made = histogram.collect(clips)
        axis.stairs(histogram.shares(seen), edges, fill=True, color="#b8c4d6", label="real")
        axis.stairs(histogram.shares(made), edges, color="#b3422e", linewidth=1.2, label="generated")
        axis.set_title(histogram.title, fontsize=7)
        step = -(-len(places) // 7)
        axis.set_xticks(
            list(places)[::step],
            [f"{bound:g}" if isinstance(bound, float | int) else bound for bound in histogram.bins][::step],
        )
    axes.flat[0].legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    chart.savefig(path, metadata={"Date": None})


def lines(what: str, folder: Path, scenes: int, drawing: Path | None) -> Iterator[str]:
    """Do one of the three works; only ``compare`` has lines to print."""
    real = read_real(folder)
    if what != "compare":
        made = fitted(folder, real) if what == "fit" else selected(folder, real, scenes)
        write_json(Path(str(FILE)), made, indent=2)
        return
    began = time.perf_counter()
    clips = generated(scenes)
    speed = 60 * scenes / (time.perf_counter() - began)
    yield from table(clips, real)
    sys.stderr.write(f"{len(clips)} scenes generated, {speed:.0f} a minute\n")
    if drawing:
        figure(drawing, clips, real)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Fit the generated world to real scenes, or compare them.")
    parser.add_argument("what", choices=("fit", "select", "compare"))
    parser.add_argument("real", type=Path)
    parser.add_argument("--scenes", type=int, default=1000)
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    return print_lines(lines(given.what, given.real, given.scenes, given.figure))


if __name__ == "__main__":
    raise SystemExit(main())
