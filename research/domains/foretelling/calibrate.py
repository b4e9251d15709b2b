"""Write the constants of motion and of tracked positions from official data.

    python -m research.domains.foretelling.calibrate ANNOTATIONS [TRAJECTORIES EVENTS]

ANNOTATIONS is a folder or zip of official annotations; only they determine the law. TRAJECTORIES and EVENTS
are tracked positions and true collisions of the same scenes: their even scenes give the errors of positions;
the odd scenes are held out. Without these two files, the constants that they determine do not change.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import msgspec

from research.domains.foretelling.from_annotations import fit_law, impacts, mass_spread, read_annotations
from research.domains.foretelling.from_trajectories import fit_sight, fit_weights
from research.domains.foretelling.scoring import halves, paired
from research.domains.foretelling.sight import SIGHT, Sight
from research.domains.foretelling.weights import VOTE_WEIGHTS, VoteWeights
from substrate.base.errors import SubstrateError
from substrate.base.files import write_json
from substrate.domains.clevrer.format import read_scene_events
from substrate.domains.clevrer.motion import law as motion
from substrate.domains.clevrer.motion.law import Errors, Law
from substrate.domains.clevrer.trajectories import read_trajectories

_LAW = Path(motion.__file__).with_name("constants.json")
_SIGHT = Path(__file__).with_name("constants.json")


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return 0 if done, 1 for wrong input."""
    parser = argparse.ArgumentParser(
        prog="calibrate", description="Fit CLEVRER's law of motion to official data."
    )
    parser.add_argument("annotations", type=Path, help="folder or zip of official annotations")
    parser.add_argument("trajectories", type=Path, nargs="?", help="JSON lines of tracked positions")
    parser.add_argument("events", type=Path, nargs="?", help="JSON lines of true events of the same scenes")
    given = parser.parse_args(arguments)
    if (given.trajectories is None) != (given.events is None):
        parser.error("TRAJECTORIES and EVENTS go together")
    try:
        law, sight, weights = calibrate(given.annotations, given.trajectories, given.events)
    except SubstrateError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    for path, constants in rendered(law, sight, weights).items():
        write_json(path, constants, indent=2)
        sys.stdout.write(f"{path} written\n")
    return 0


def calibrate(
    annotations: Path, trajectories: Path | None = None, events: Path | None = None
) -> tuple[Law, Sight, VoteWeights]:
    """Fit all constants; without trajectories, errors and weights keep their present values."""
    films = read_annotations(annotations)
    law = fit_law(films)
    if trajectories is None or events is None:
        return law, SIGHT, VOTE_WEIGHTS
    fitted, _ = halves(paired(read_trajectories(trajectories), read_scene_events(events)))
    sight = fit_sight(fitted, law, mass_spread(impacts(films, law)))
    return law, sight, fit_weights(fitted, law, sight)


def rendered(law: Law, sight: Sight, weights: VoteWeights) -> dict[Path, dict[str, Any]]:
    """The files of constants, each with its content.

    A :class:`Sight` has all fields of the library's :class:`Errors` and more. The library reads its own
    fields from its own file, so they are written there; the other fields stand in this room's file.
    """
    observed = msgspec.structs.asdict(sight)
    errors = {name: observed.pop(name) for name in Errors.__struct_fields__}
    # The file's key "belief" is older than the name VoteWeights; perception's Belief is another
    return {_LAW: {"law": law, "errors": errors}, _SIGHT: {"sight": observed, "belief": weights}}


if __name__ == "__main__":
    raise SystemExit(main())
