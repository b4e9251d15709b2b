"""Make the CLEVRER files of the profile `real` from NS-DR's official release.

    python -m research.benchmarks.make_real PROPOSALS QUESTIONS --out FOLDER

PROPOSALS is the folder or zip of NS-DR's processed proposals (``sim_NNNNN.json``, each with its own
``ground_truth``), QUESTIONS the file of the 564 explanatory questions. The true events go to separate files,
so that no code that answers can read them. `params.yaml` has each file's SHA-256.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import msgspec

from research.domains.perception.format import proposal_names
from substrate.base.errors import FormatError, SubstrateError
from substrate.base.files import replacing
from substrate.base.inputs import decode
from substrate.base.numbered import sources_in
from substrate.domains.clevrer.format import read_questions

ANNOTATED = range(0, 8000, 1000)
"""The videos with a full annotation."""
TEST = range(15000, 15400)
"""The videos of the test split whose proposals are read."""
PARTS = {"train": range(10_000), "test": range(15_000, 20_000)}
"""The scenes of each file of true events."""
_record = msgspec.json.Decoder(dict[str, Any])


def without_gold(record: dict[str, Any]) -> tuple[bytes, bytes]:
    """Split a video's record into its proposals and its true events.

    The true events have the form that `substrate answer clevrer --events` reads.

    >>> without_gold({"video_index": 7, "frames": [], "ground_truth": {"objects": []}})
    (b'{"video_index":7,"frames":[]}', b'{"scene_index":7,"n_frames":0,"objects":[]}')
    """
    truth = record.pop("ground_truth")
    events = {"scene_index": record["video_index"], "n_frames": len(record["frames"]), **truth}
    return msgspec.json.encode(record), msgspec.json.encode(events)


def make(proposals: Path, questioned: Collection[int], out: Path) -> Iterator[str]:
    """Write the files into a folder; yield each path.

    Raises:
        FormatError: a file of proposals has no ``ground_truth``.
    """
    names = proposal_names(proposals)
    videos = {*questioned, *ANNOTATED, *TEST}
    out.mkdir(parents=True, exist_ok=True)
    events: dict[int, bytes] = {}
    target = out / "proposals.zip"
    with replacing(target) as fresh, zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (name, data) in zip(names, sources_in(proposals, names.values()), strict=True):
            record = decode(_record, data, name)
            if "ground_truth" not in record:
                hint = "Take NS-DR's own release, whose files have it"
                raise FormatError("has no ground_truth", where=(name,), hint=hint)
            seen, events[number] = without_gold(record)
            if number in videos:
                archive.writestr(zipfile.ZipInfo(f"processed_proposals/sim_{number:05d}.json"), seen)
    yield str(target)
    for part, scenes in PARTS.items():
        target = out / f"ground_truth_{part}.jsonl.gz"
        lines = b"".join(events[scene] + b"\n" for scene in scenes if scene in events)
        with replacing(target) as fresh:
            fresh.write_bytes(gzip.compress(lines, mtime=0))
        yield str(target)


def main() -> int:
    """Make the files; return 1 if the release cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m research.benchmarks.make_real")
    parser.add_argument("proposals", type=Path, help="folder or zip of NS-DR's processed proposals")
    parser.add_argument("questions", type=Path, help="explanatory_train.jsonl.gz")
    parser.add_argument("--out", type=Path, required=True, help="the folder `clevrer` of the official files")
    given = parser.parse_args()
    try:
        for written in make(given.proposals, read_questions(given.questions).raw, given.out):
            sys.stdout.write(f"{written}\n")
    except SubstrateError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
