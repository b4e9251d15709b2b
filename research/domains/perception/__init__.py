"""Event logs from detections: NS-DR's processed proposals ► objects, paths, events with probabilities.

- :func:`perceive`: a video's proposals ► a record that ``substrate answer clevrer --events`` takes;
- :func:`read_videos`: the proposals of a folder or zip.

``docs/perception.md`` says how it works and how well.
"""

from research.domains.perception.perceive import Perceived, perceive, read_videos

__all__ = ["Perceived", "perceive", "read_videos"]
