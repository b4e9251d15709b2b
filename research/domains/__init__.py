"""Domains beyond the paper: what a log records, and what is answered from it.

Each folder is a subject with its own first page; the files beside them are about CLEVRER's videos.

- :mod:`.perception`: detections ► objects, paths and events with probabilities.
- :mod:`.foretelling`: positions up to a frame ► later collisions. :mod:`.foretold` writes either room's
  predictions as a log and compares them with the truth; :mod:`.perception.future` gives perceived positions.
- :mod:`.comphy`: hidden masses and charges. :mod:`.village`: a recorded simulation, and who met whom.
- :mod:`.objects` and :mod:`.event_records`: an object's look and IRI, and how sure a log is of an event. The
  rooms above share them.
- :mod:`.possible`: answers from all logs that a scene may have. :mod:`.positions`: motion of tracked bodies.
- :mod:`.humans`: questions in people's own words. :mod:`.evidence`: what an explained answer rests on.
  :mod:`.duality_trial`: keys that contradict the duality. :mod:`.grading`: anyone's answers to Twin-EventLog.
"""
