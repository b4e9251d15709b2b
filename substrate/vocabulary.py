"""The few IRIs the core itself speaks; every other class and predicate comes from a TBox."""

from __future__ import annotations

from pyoxigraph import NamedNode

NAMESPACE = "urn:substrate:"

LOCATION = NamedNode(NAMESPACE + "location")
"""Where an entity is; a TBox's own location properties are sub-properties of it."""

AWARE_OF = NamedNode(NAMESPACE + "awareOf")
"""What an agent knows: a node, or a triple term."""

RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
