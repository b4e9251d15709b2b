"""The way from a number to its sources and from an answer to its ticks, from records and pure functions.

Begin with :mod:`.number`: `Lineage` reads the records of a profile's stages, and `trace_number` follows a
number through them. :mod:`.answer` goes on from one row of a number to its log and triples; the reasons come
from :mod:`.explain`, which needs no records. :mod:`.listing` lists every number beside the paper's figures,
and derives differences and bounds. :mod:`.answer` and :mod:`.listing` import :mod:`.number`; :mod:`.number`
and :mod:`.explain` import no other file of this room.
"""
