"""The GQA TBox as tables: classes of things, attribute families, readings of relations.

No knowledge of the domain is written here: a different TBox file gives a different hierarchy and families.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote

from substrate.base.errors import TBoxError
from substrate.base.vocabulary import RDF_TYPE
from substrate.rules.tbox import TBox

NAMESPACE = "urn:substrate:gqa:"
THING = "object"
"""The name of the class of every object, :data:`NAMESPACE` ``Object``."""

_OWL, _RDFS = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/2000/01/rdf-schema#"
_RDF_TYPE = RDF_TYPE.value

Axis = tuple[str, int]
"""A box axis, ``x`` or ``y``, and whether the subject's centre is higher (1) or lower (-1) on it."""


@lru_cache(maxsize=1 << 14)
def local(phrase: str) -> str:
    """A phrase as the last part of an IRI; :func:`phrase_of` is its inverse.

    >>> local("to the left of"), local("café_au lait")
    ('to_the_left_of', 'caf%C3%A9%5Fau_lait')
    """
    return quote(phrase, safe="-").replace("_", "%5F").replace("%20", "_")


def phrase_of(iri: str) -> str:
    """The phrase at the end of an IRI.

    >>> phrase_of("urn:substrate:gqa:relation:to_the_left_of")
    'to the left of'
    """
    return unquote(iri.rsplit(":", 1)[1].replace("_", " "))


class Reading(NamedTuple):
    """A way to find a relation in a scene: by this name, with subject and object exchanged if reversed."""

    name: str
    reversed: bool


class Comparison(NamedTuple):
    """A comparative names the holder of ``favours``, or the object compared with a holder of ``against``."""

    favours: str
    against: str


class Ontology:
    """The tables of one GQA TBox.

    >>> gqa = default()
    >>> gqa.kinds("apples")[:3], gqa.families_of("red"), gqa.implied("girl")
    (('apples', 'apple', 'fruit'), ('color',), (('gender', 'female'),))
    """

    def __init__(self, tbox: TBox) -> None:
        by_predicate: dict[str, list[tuple[str, str]]] = {}
        for quad in tbox.quads:
            ends = quad.subject.value, quad.object.value  # pyright: ignore[reportAttributeAccessIssue]
            by_predicate.setdefault(quad.predicate.value, []).append(ends)

        def texts(predicate: str, of: str = "") -> list[tuple[str, str]]:
            """The statements of a predicate about IRIs that start with ``of``: each phrase and the object."""
            return [(_phrase(s), o) for s, o in by_predicate.get(predicate, []) if s.startswith(of)]

        def phrases(predicate: str, of: str = "") -> list[tuple[str, str]]:
            """The statements of a predicate, with the objects as phrases."""
            return [(phrase, _phrase(iri)) for phrase, iri in texts(predicate, of)]

        def members(kind: str) -> list[str]:
            """The phrases in a class."""
            return [phrase for phrase, iri in texts(_RDF_TYPE) if iri == kind]

        families = dict(by_predicate.get(f"{_OWL}onProperty", []))
        values = dict(by_predicate.get(f"{_OWL}hasValue", []))
        parents: dict[str, set[str]] = {}
        self._restrictions: dict[str, list[tuple[str, str]]] = {}
        for child, parent in texts(f"{_RDFS}subClassOf", f"{NAMESPACE}class:"):
            above = parents.setdefault(child, set())
            if parent in families:
                restriction = _phrase(families[parent]), values[parent]
                self._restrictions.setdefault(child, []).append(restriction)
            else:
                above.add(_phrase(parent))
        self._plurals = dict(phrases(f"{NAMESPACE}pluralOf"))
        self._equivalent = dict(sorted(_both_ways(phrases(f"{_OWL}equivalentClass"))))
        for plural, singular in self._plurals.items():
            parents.setdefault(plural, set()).add(singular)
        for name in (*self._plurals.values(), *self._equivalent):
            parents.setdefault(name, set())
        self._parents = {name: tuple(sorted(uppers - {THING})) for name, uppers in parents.items()}
        self.families = dict.fromkeys(members(f"{NAMESPACE}Family"), frozenset[str]()) | {
            family: frozenset(answers) for family, answers in _grouped(texts(f"{NAMESPACE}value")).items()
        }
        """The values that each attribute family may answer with."""
        ranks = {family: int(rank) for family, rank in texts(f"{NAMESPACE}commonRank")}
        self.comparable = tuple(sorted(ranks, key=lambda family: (ranks[family], family)))
        """The families tried, in this order, to find an attribute that two objects share."""
        if not self.families or not self._parents:
            raise TBoxError(
                "has no attribute family or no class",
                where=(tbox.name,),
                hint="Give a TBox of GQA scenes, such as tboxes/gqa.ttl",
            )
        self._families_of = _grouped((value, f) for f, values in self.families.items() for value in values)
        labelled = texts("http://www.w3.org/2004/02/skos/core#altLabel", f"{NAMESPACE}value:")
        self._spellings = _grouped(labelled)
        self._canonical = {label: value for value, label in labelled}
        self.pronouns = dict(phrases(f"{NAMESPACE}refersTo"))
        """The class that each pronoun stands for."""
        self.tellers = _grouped((family, kind) for kind, family in phrases(f"{NAMESPACE}tells"))
        """The classes of objects that represent the whole scene in a family."""
        narrower = phrases(f"{_RDFS}subPropertyOf", f"{NAMESPACE}relation:")
        self._narrower = _grouped((broad, narrow) for narrow, broad in narrower)
        symmetric = members(f"{_OWL}SymmetricProperty")
        mirrored = _both_ways(phrases(f"{_OWL}inverseOf"))
        self._inverse = _grouped([*mirrored, *((name, name) for name in symmetric)])
        self._answers = dict(texts(f"{NAMESPACE}answer"))
        self._axes: dict[str, Axis] = {
            relation: ("x" if axis.endswith("x") else "y", sign)
            for predicate, sign in (("higherOn", 1), ("lowerOn", -1))
            for relation, axis in texts(f"{NAMESPACE}{predicate}")
        }
        favours, against = dict(texts(f"{NAMESPACE}favours")), dict(texts(f"{NAMESPACE}against"))
        self.comparisons = {
            word: Comparison(favours[word], against[word]) for word in members(f"{NAMESPACE}Comparison")
        }
        """The values that each comparative looks for."""
        self._kinds: dict[str, tuple[str, ...]] = {}
        self._readings: dict[str, tuple[Reading, ...]] = {}

    def knows(self, name: str) -> bool:
        """Tell whether the TBox has a class of this name."""
        return name in self._parents

    def kinds(self, name: str) -> tuple[str, ...]:
        """A class name and all its superclasses, nearest first.

        A name that the TBox lacks is read as the plural of a class; otherwise as a kind of its last word
        ("wicker chair" of "chair") and, if it looks like a plural, of its singular.

        >>> default().kinds("sprockets"), default().kinds("wicker chairs")[:3]
        (('sprockets', 'sprocket'), ('wicker chairs', 'wicker chair', 'chairs'))
        """
        kinds = self._kinds.get(name)
        if kinds is None:
            reached: dict[str, None] = {name: None}
            for kind in (queue := [name]):
                for parent in self._up(kind):
                    if parent not in reached:
                        reached[parent] = None
                        queue.append(parent)
            kinds = self._kinds[name] = tuple(reached)
        return kinds

    def _up(self, name: str) -> tuple[str, ...]:
        same = (self._equivalent[name],) if name in self._equivalent else ()
        if name in self._parents:
            return same + self._parents[name]
        singulars = _singulars(name)
        for singular in singulars:
            if singular in self._parents:
                return (singular,)
        _, blank, head = name.rpartition(" ")
        return (*singulars, head) if blank and self.kinds(head)[1:] else singulars

    def base(self, name: str) -> str:
        """The common name of all spellings of a class: its singular; of two equivalent names, the first in
        the alphabet.

        >>> default().base("zebras"), default().base("sofa")
        ('zebra', 'couch')
        """
        if name in self._plurals:
            name = self._plurals[name]
        elif name not in self._parents:
            name = next((singular for singular in _singulars(name) if singular in self._parents), name)
        return min(name, self._equivalent.get(name, name))

    def foldings(self, name: str) -> tuple[str, ...]:
        """The other spellings by which a name may be found: its singular, its synonym.

        >>> default().foldings("trees"), default().foldings("shoes"), default().foldings("sprockets")
        (('tree',), ('shoe',), ('sprocket',))
        """
        base = self.base(name)
        if base != name:
            return (base,)
        return () if name in self._parents else _singulars(name)

    def implied(self, name: str) -> tuple[tuple[str, str], ...]:
        """The pairs of family and value that every member of a class has."""
        return tuple(
            dict.fromkeys(pair for kind in self.kinds(name) for pair in self._restrictions.get(kind, ()))
        )

    def canonical(self, value: str) -> str:
        """The families' spelling of a value."""
        return self._canonical.get(value, value)

    def spellings(self, value: str) -> tuple[str, ...]:
        """Other spellings of a value."""
        return self._spellings.get(value, ())

    def families_of(self, value: str) -> tuple[str, ...]:
        """The families of a value, by name."""
        return self._families_of.get(value, ())

    def readings(self, relation: str) -> tuple[Reading, ...]:
        """List the ways to find a relation: itself, then narrower ones, then their inverses from the other
        side.

        >>> default().readings("to the left of")
        (Reading(name='to the left of', reversed=False), Reading(name='to the right of', reversed=True))
        """
        readings = self._readings.get(relation)
        if readings is None:
            names = [relation]
            for name in names:
                names += [narrow for narrow in self._narrower.get(name, ()) if narrow not in names]
            mirrored = [Reading(inverse, True) for name in names for inverse in self._inverse.get(name, ())]
            readings = self._readings[relation] = tuple(
                dict.fromkeys([*(Reading(name, False) for name in names), *mirrored])
            )
        return readings

    def answer(self, relation: str) -> str:
        """Spell a relation as an answer does.

        >>> default().answer("in front of"), default().answer("riding")
        ('front', 'riding')
        """
        return self._answers.get(relation, relation)

    def axis(self, relation: str) -> Axis | None:
        """A relation's condition on two box centres, if it has one."""
        return self._axes.get(relation)


def _phrase(iri: str) -> str:
    return THING if iri == f"{NAMESPACE}Object" else phrase_of(iri) if ":" in iri else iri


def _both_ways(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [*pairs, *((b, a) for a, b in pairs)]


def _singulars(name: str) -> tuple[str, ...]:
    """The possible singulars of a regular English plural, by its ending."""
    if name.endswith("ies"):
        return (f"{name[:-3]}y", name[:-1])
    if name.endswith("es"):
        return (name[:-1], name[:-2])
    return (name[:-1],) if name.endswith("s") and not name.endswith("ss") else ()


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    by_key: dict[str, set[str]] = {}
    for key, value in pairs:
        by_key.setdefault(key, set()).add(value)
    return {key: tuple(sorted(values)) for key, values in by_key.items()}


@cache
def default() -> Ontology:
    """The tables of the package's TBox."""
    return Ontology(TBox.load("gqa"))
