"""Event logs from detections: NS-DR's processed proposals ► objects, paths, events with probabilities.

Begin with :mod:`.perceive`, which runs the stages in this order, one file each:

- :mod:`.format`, :mod:`.masks`: a file ► sightings, the box and area of each silhouette.
- :mod:`.tracks`: sightings ► objects. :mod:`.camera`: boxes ► places on the floor.
- :mod:`.paths`: places ► pieces of free motion, by the tables of :mod:`.glide_table`.
- :mod:`.collisions`, :mod:`.borders`: paths ► hypotheses of contacts, entries and exits.
- :mod:`.belief`: hypotheses ► probabilities.

:mod:`.log` writes the result as an event log, :mod:`.explain` and :mod:`.picture` show it, and :mod:`.future`
gives states to predict from. Only :mod:`.judge` and :mod:`.calibrate`, which fits the :mod:`.constants`, read
the truth. ``docs/perception.md`` says how well perception works.
"""

from research.domains.perception.perceive import Perceived, perceive, read_videos

__all__ = ["Perceived", "perceive", "read_videos"]
