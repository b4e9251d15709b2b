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

The words of this room, in the order of the stages:

- proposal: a detector's guess in one frame, a silhouette with a color, a material and a shape.
- sighting: a proposal that has a pixel, as the box and area of its silhouette (:class:`.masks.Sightings`).
- look: color, material and shape. No two objects of a video have the same, so a look names an object.
- track: which sighting shows an object, by frame (:mod:`.tracks`).
- place: a point on the floor, in units; its error is a covariance.
- path: the measured places of one object (:class:`.paths.BodyPath`).
- blow: a collision as one path feels it, named by the last frame before it.
- piece: free motion from one blow to the next. Its cost is twice a negative log-likelihood: low is good.
- contact: a hypothesis that two bodies touch after a frame. Its gain is how much the costs of the two paths
  fall if both take a blow there (:class:`.collisions.Contact`).
- crossing: a hypothesis that a body enters or leaves (:class:`.borders.Crossing`).
- term or feature: a number that speaks for or against a hypothesis. The belief has a weight for each.
"""

from research.domains.perception.perceive import Perceived, perceive, read_videos

__all__ = ["Perceived", "perceive", "read_videos"]
