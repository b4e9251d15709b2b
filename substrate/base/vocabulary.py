"""The few IRIs the core itself speaks; every other class and predicate comes from a TBox.

A TBox ties its own terms to these by ``rdfs:subClassOf`` and ``rdfs:subPropertyOf``; that is how the
core can ask any domain the same questions.
"""

from __future__ import annotations

from pyoxigraph import NamedNode

NAMESPACE = "urn:substrate:"

EVENT = NamedNode(NAMESPACE + "Event")
"""Class of what happens at a tick; an event's tick is that of the delta which gives it its class."""

PARTICIPANT = NamedNode(NAMESPACE + "participant")
"""A participant of an event."""

LOCATION = NamedNode(NAMESPACE + "location")
"""The place of an entity; a TBox's own location properties are sub-properties of it."""

AWARE_OF = NamedNode(NAMESPACE + "awareOf")
"""The fact that an agent knows: a node, or a triple term."""

SOURCE = NamedNode(NAMESPACE + "source")
"""By whom something is passed on, in the event of passing it on."""

RECIPIENT = NamedNode(NAMESPACE + "recipient")
"""To whom it is passed on."""

CONTENT = NamedNode(NAMESPACE + "content")
"""The fact that is passed on: what the recipient is aware of from then."""

AWAITS = NamedNode(NAMESPACE + "awaits")
"""The moment at which the triple of a memory's record begins or ceases to stand, where that lies ahead."""

EXOGENOUS = NamedNode(NAMESPACE + "exogenous")
"""On a property or class of a TBox: given from outside, so that a fork's rules take it over from the parent.
"""

DEFEASIBLE = NamedNode(NAMESPACE + "defeasible")
"""On a property of a TBox: what a memory holds of it is in doubt, and not withdrawn, without its last ground.
"""

RETRACT = NamedNode(NAMESPACE + "retract")
"""On a rule: the CONSTRUCT query that gives what ends to hold."""

RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
RDFS_LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
SUBCLASS = NamedNode("http://www.w3.org/2000/01/rdf-schema#subClassOf")
SUBPROPERTY = NamedNode("http://www.w3.org/2000/01/rdf-schema#subPropertyOf")
SHACL = "http://www.w3.org/ns/shacl#"
