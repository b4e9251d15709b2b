"""The few IRIs that the core itself uses; every other class and predicate comes from a TBox.

A TBox ties its own terms to these by ``rdfs:subClassOf`` and ``rdfs:subPropertyOf``, so that the core can ask
every domain the same questions.
"""

from __future__ import annotations

from pyoxigraph import NamedNode

NAMESPACE = "urn:substrate:"

EVENT = NamedNode(NAMESPACE + "Event")
"""The class of events; an event's tick is the tick of the delta that gives it its class."""

PARTICIPANT = NamedNode(NAMESPACE + "participant")
"""A participant of an event."""

LOCATION = NamedNode(NAMESPACE + "location")
"""The place of an entity; a TBox's own location properties are sub-properties of it."""

AWARE_OF = NamedNode(NAMESPACE + "awareOf")
"""The fact that an agent knows: a node, or a triple term."""

SOURCE = NamedNode(NAMESPACE + "source")
"""The agent who passes something on, in an event of telling."""

RECIPIENT = NamedNode(NAMESPACE + "recipient")
"""The agent to whom it is passed on."""

CONTENT = NamedNode(NAMESPACE + "content")
"""The fact that is passed on; the recipient is aware of it from then on."""

AWAITS = NamedNode(NAMESPACE + "awaits")
"""The future moment at which the triple of a memory's record begins or ceases to hold."""

EXOGENOUS = NamedNode(NAMESPACE + "exogenous")
"""Marks a TBox's property or class as given from outside: a fork's rules take it over from the parent."""

DEFEASIBLE = NamedNode(NAMESPACE + "defeasible")
"""Marks a TBox's property: a memory's fact that loses its last ground becomes doubtful, but is not withdrawn.
"""

RETRACT = NamedNode(NAMESPACE + "retract")
"""On a rule: the CONSTRUCT query that gives the triples that cease to hold."""

RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
RDFS_LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
SUBCLASS = NamedNode("http://www.w3.org/2000/01/rdf-schema#subClassOf")
SUBPROPERTY = NamedNode("http://www.w3.org/2000/01/rdf-schema#subPropertyOf")
SHACL = "http://www.w3.org/ns/shacl#"
