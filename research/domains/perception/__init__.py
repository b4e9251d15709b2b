"""Event logs from detections: NS-DR's processed proposals ► objects, paths, events with probabilities.

- :func:`perceive`: turns a video's proposals into a record that ``substrate answer clevrer --events`` reads;
- :func:`read_videos`: reads the proposals of a folder or zip.

``docs/perception.md`` says how perception works and how well.
"""

from research.domains.perception.perceive import Perceived, perceive, read_videos

__all__ = ["Perceived", "perceive", "read_videos"]
