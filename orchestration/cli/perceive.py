"""Detections ► events, without the pipeline."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import msgspec

from substrate.base.files import replacing
from substrate.domains.clevrer.perception.format import decode_proposals, proposal_names, proposal_sources
from substrate.domains.clevrer.perception.log import perceived_log
from substrate.domains.clevrer.perception.perceive import examined, recorded


def perceive_clevrer(
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
            for done, source in enumerate(proposal_sources(proposals, names.values()), start=1):
                video = examined(decode_proposals(source), source[0], until=until)
                found = recorded(video)
                objects, collisions = objects + len(found.objects), collisions + len(found.collisions)
                file.write(msgspec.json.encode(found) + b"\n")
                if folder:
                    perceived_log(video, found).save(folder / f"{found.scene_index:05d}.rdfp")
                advance(done, len(names))
    return len(names), objects, collisions
