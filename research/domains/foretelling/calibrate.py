"""Write :mod:`substrate.domains.clevrer.motion.constants` from official data.

    python -m research.domains.foretelling.calibrate ANNOTATIONS [TRAJECTORIES EVENTS] [--out FILE]

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
from research.domains.foretelling.from_trajectories import fit_belief, fit_sight, halves, watch
from substrate.base.errors import SubstrateError
from substrate.domains.clevrer.format import read_scene_events
from substrate.domains.clevrer.motion import constants
from substrate.domains.clevrer.motion.law import Belief, Law, Sight
from substrate.domains.clevrer.trajectories import read_trajectories

IN_FORCE = Path(constants.__file__)
"""The module that the law is read from."""
_HEAD = '''"""Constants of the law of motion.

Written by ``python -m research.domains.foretelling.calibrate``: do not edit.

The meaning of each stands in :mod:`.law`; its derivation, in
:mod:`research.domains.foretelling.from_annotations` and
:mod:`research.domains.foretelling.from_trajectories`.
"""

from typing import Any
'''


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return 0 if done, 1 for wrong input."""
    parser = argparse.ArgumentParser(
        prog="calibrate", description="Fit CLEVRER's law of motion to official data."
    )
    parser.add_argument("annotations", type=Path, help="folder or zip of official annotations")
    parser.add_argument("trajectories", type=Path, nargs="?", help="JSON lines of tracked positions")
    parser.add_argument("events", type=Path, nargs="?", help="JSON lines of true events of the same scenes")
    parser.add_argument("--out", type=Path, default=IN_FORCE, help="file to write")
    given = parser.parse_args(arguments)
    if (given.trajectories is None) != (given.events is None):
        parser.error("TRAJECTORIES and EVENTS go together")
    try:
        law, sight, belief = calibrate(given.annotations, given.trajectories, given.events)
    except SubstrateError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    given.out.write_text(rendered(law, sight, belief), "utf-8")
    sys.stdout.write(f"{given.out}: {len(law.__struct_fields__)} constants of the law written\n")
    return 0


def calibrate(
    annotations: Path, trajectories: Path | None = None, events: Path | None = None
) -> tuple[Law, Sight, Belief]:
    """Fit all constants; without trajectories, sight and belief keep their present values."""
    films = read_annotations(annotations)
    law = fit_law(films)
    if trajectories is None or events is None:
        return law, Sight(**constants.OBSERVED), Belief(**constants.WEIGHED)
    fitted, _ = halves(watch(read_trajectories(trajectories), read_scene_events(events)))
    sight = fit_sight(fitted, law, mass_spread(impacts(films, law)))
    return law, sight, fit_belief(fitted, law, sight)


def rendered(law: Law, sight: Sight, belief: Belief) -> str:
    """Write the constants as a Python module, one per line."""
    return "\n".join(
        [
            _HEAD,
            *(
                _assignment(name, struct)
                for name, struct in (("FITTED", law), ("OBSERVED", sight), ("WEIGHED", belief))
            ),
        ]
    )


def _assignment(name: str, struct: msgspec.Struct) -> str:
    values: dict[str, Any] = msgspec.structs.asdict(struct)
    body = "".join(f'    "{key}": {value!r},\n' for key, value in values.items())
    return f"{name}: dict[str, Any] = {{\n{body}}}\n"


if __name__ == "__main__":
    raise SystemExit(main())
