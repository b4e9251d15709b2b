"""Inferred mass and charge, and the evidence for them, as facts for a target's log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from research.domains.comphy.properties import infer
from research.domains.objects import object_iri
from substrate.base.delta import Op, Spelled
from substrate.base.vocabulary import RDF_TYPE
from substrate.domains.comphy.deltas import NAMESPACE, target_iri
from substrate.domains.comphy.format import Target

_XSD = "http://www.w3.org/2001/XMLSchema#"


def hidden(target: Target) -> Iterator[Spelled]:
    """Spell the masses and charges that the reference videos show, with evidence, for the target's log."""
    scene, inferred = target_iri(target.scene), infer(target)

    def fact(subject: str, name: str, value: str) -> Spelled:
        return Spelled(0, Op.INSERT, f"<{subject}> <{NAMESPACE}{name}> {value}")

    properties: tuple[tuple[str, Mapping[int, float], Callable[[Any], str]], ...] = (
        ("mass", inferred.masses, _integer),
        ("charge", inferred.charges, _integer),
        # Four digits: the probability is no more precise.
        ("massProbability", inferred.mass_probability, lambda value: _double(round(value, 4))),
        ("chargeProbability", inferred.charge_probability, lambda value: _double(round(value, 4))),
    )
    for name, values, spell in properties:
        for number, value in sorted(values.items()):
            yield fact(object_iri(scene, number), name, spell(value))
    if inferred.strength:
        yield fact(scene, "strength", _double(inferred.strength))
    for number, evidence in enumerate(inferred.evidence):
        node = f"{scene}:evidence:{number}"
        yield Spelled(0, Op.INSERT, f"<{node}> {RDF_TYPE} <{NAMESPACE}{evidence.kind}>")
        for key in ("video", "since", "until"):
            yield fact(node, key, _integer(getattr(evidence, key)))
        for key in ("first", "second"):
            thing = object_iri(scene, getattr(evidence, key))
            yield fact(node, key, f"<{thing}>")
            yield fact(thing, "evidence", f"<{node}>")
        for key in ("weight", "ratio", "strength"):
            if (value := getattr(evidence, key)) is not None:
                yield fact(node, key, _double(value))


def _integer(value: float) -> str:
    # Every value here is a whole number: a mass, a charge, a video or a frame
    return f'"{value}"^^<{_XSD}integer>'


def _double(value: float) -> str:
    # Least squares may differ in the last bits between processors: measurements keep six digits.
    return f'"{float(f"{value:.6g}")!r}"^^<{_XSD}double>'
