"""The GQA TBox as tables: kinds of things, attribute families, readings of relations.

Nothing of the domain is written here: another TBox file gives another hierarchy and other families.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import quote, unquote

from substrate.base.errors import TBoxError
from substrate.rules.tbox import TBox

if TYPE_CHECKING:
    import rdflib

NAMESPACE = "urn:substrate:gqa:"
THING = "object"
"""The name of what every object is, :data:`NAMESPACE` ``Object``."""

_CLASS, _FAMILY, _RELATION = f"{NAMESPACE}class:", f"{NAMESPACE}family:", f"{NAMESPACE}relation:"
_COMPARISON, _VALUE = f"{NAMESPACE}comparison:", f"{NAMESPACE}value:"

Axis = tuple[Literal["x", "y"], Literal[1, -1]]
"""A box axis and whether the subject's centre lies higher (1) or lower (-1) on it."""


@lru_cache(maxsize=1 << 14)
def local(phrase: str) -> str:
    """A phrase as the last part of an IRI; :func:`phrase_of` is its inverse.

    >>> local("to the left of"), local("café_au lait")
    ('to_the_left_of', 'caf%C3%A9%5Fau_lait')
    """
    return quote(phrase, safe="-").replace("_", "%5F").replace("%20", "_")


def phrase_of(iri: str) -> str:
    """The phrase an IRI ends in.

    >>> phrase_of("urn:substrate:gqa:relation:to_the_left_of")
    'to the left of'
    """
    return unquote(iri.rsplit(":", 1)[1].replace("_", " "))


class Reading(NamedTuple):
    """A way to find a relation in a scene: by this name, subject and object exchanged where reversed."""

    name: str
    reversed: bool


class Comparison(NamedTuple):
    """A comparative names the holder of ``favours``, or who stands against the holder of ``against``."""

    favours: str
    against: str


class Ontology:
    """The tables of one GQA TBox.

    >>> gqa = default()
    >>> gqa.kinds("apples")[:3], gqa.families_of("red"), gqa.implied("girl")
    (('apples', 'apple', 'fruit'), ('color',), (('gender', 'female'),))
    """

    def __init__(self, tbox: TBox) -> None:
        # Imported where a TBox is read: it takes as long as a command may that reads none.
        import rdflib
        from rdflib.namespace import OWL, RDF, RDFS, SKOS

        graph, gqa = tbox.graph, rdflib.Namespace(NAMESPACE)
        self._parents: dict[str, tuple[str, ...]] = {}
        self._restrictions: dict[str, list[tuple[str, str]]] = {}
        self._equivalent = _equivalents(graph)
        parents: dict[str, set[str]] = {}
        for child, parent in graph.subject_objects(RDFS.subClassOf):
            if str(child).startswith(_CLASS):
                if isinstance(parent, rdflib.BNode):
                    restriction = (
                        phrase_of(str(graph.value(parent, OWL.onProperty))),
                        str(graph.value(parent, OWL.hasValue)),
                    )
                    self._restrictions.setdefault(phrase_of(str(child)), []).append(restriction)
                    parents.setdefault(phrase_of(str(child)), set())
                else:
                    parents.setdefault(phrase_of(str(child)), set()).add(_name(str(parent)))
        self._plurals = {
            phrase_of(str(plural)): phrase_of(str(one)) for plural, one in graph.subject_objects(gqa.pluralOf)
        }
        for plural, one in self._plurals.items():
            parents.setdefault(plural, set()).add(one)
            parents.setdefault(one, set())
        for one, other in self._equivalent.items():
            parents.setdefault(one, set())
            parents.setdefault(other, set())
        self._parents = {name: tuple(sorted(found - {THING})) for name, found in parents.items()}
        ranks = {phrase_of(str(f)): int(str(rank)) for f, rank in graph.subject_objects(gqa.commonRank)}
        self.families: dict[str, frozenset[str]] = {
            phrase_of(str(family)): frozenset(str(v) for v in graph.objects(family, gqa.value))
            for family in graph.subjects(RDF.type, gqa.Family)
        }
        """Attribute family to the values it may answer with."""
        self.comparable = tuple(sorted(ranks, key=lambda family: (ranks[family], family)))
        """The families tried, in this order, for what two objects have in common."""
        if not self.families or not self._parents:
            raise TBoxError(
                "has no attribute family or no class",
                where=(tbox.name,),
                hint="Give a TBox of GQA scenes, such as tboxes/gqa.ttl",
            )
        families_of: dict[str, list[str]] = {}
        for family, values in sorted(self.families.items()):
            for value in values:
                families_of.setdefault(value, []).append(family)
        self._families_of = {value: tuple(families) for value, families in families_of.items()}
        self._canonical = {
            str(label): phrase_of(str(value))
            for value, label in graph.subject_objects(SKOS.altLabel)
            if str(value).startswith(_VALUE)
        }
        self._spellings = _grouped((value, label) for label, value in self._canonical.items())
        self.pronouns = {phrase_of(str(p)): _name(str(c)) for p, c in graph.subject_objects(gqa.refersTo)}
        """Pronoun to the class it stands for."""
        self.tellers: dict[str, tuple[str, ...]] = _grouped(
            (phrase_of(str(f)), phrase_of(str(c))) for c, f in graph.subject_objects(gqa.tells)
        )
        """Family of a whole scene to the classes of objects that speak for it."""
        self._narrower = _grouped(
            (phrase_of(str(broad)), phrase_of(str(narrow)))
            for narrow, broad in graph.subject_objects(RDFS.subPropertyOf)
            if str(narrow).startswith(_RELATION)
        )
        self._inverse = _inverses(graph)
        self._answers = {phrase_of(str(r)): str(answer) for r, answer in graph.subject_objects(gqa.answer)}
        self._axes: dict[str, Axis] = {}
        for r, axis in graph.subject_objects(gqa.higherOn):
            self._axes[phrase_of(str(r))] = ("x" if str(axis).endswith("x") else "y", 1)
        for r, axis in graph.subject_objects(gqa.lowerOn):
            self._axes[phrase_of(str(r))] = ("x" if str(axis).endswith("x") else "y", -1)
        self.comparisons = {
            phrase_of(str(c)): Comparison(str(graph.value(c, gqa.favours)), str(graph.value(c, gqa.against)))
            for c in graph.subjects(RDF.type, gqa.Comparison)
            if str(c).startswith(_COMPARISON)
        }
        """Comparative to what it looks for."""
        self._kinds: dict[str, tuple[str, ...]] = {}
        self._readings: dict[str, tuple[Reading, ...]] = {}

    def knows(self, name: str) -> bool:
        """Tell whether the TBox has a class of this name."""
        return name in self._parents

    def kinds(self, name: str) -> tuple[str, ...]:
        """A class name and all it is a kind of, nearest first.

        A name the TBox lacks is read as the plural of one it has, else as a kind of its last word ("wicker
        chair" of "chair") and, if it looks like a plural, of its singular.

        >>> default().kinds("sprockets"), default().kinds("wicker chairs")[:3]
        (('sprockets', 'sprocket'), ('wicker chairs', 'wicker chair', 'chairs'))
        """
        found = self._kinds.get(name)
        if found is None:
            reached: dict[str, None] = {name: None}
            for kind in (queue := [name]):
                for parent in self._up(kind):
                    if parent not in reached:
                        reached[parent] = None
                        queue.append(parent)
            found = self._kinds[name] = tuple(reached)
        return found

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
        """The name for all spellings of a class: its singular, of two equivalent names the first by letter.

        >>> default().base("zebras"), default().base("sofa")
        ('zebra', 'couch')
        """
        if name in self._plurals:
            name = self._plurals[name]
        elif name not in self._parents:
            name = next((singular for singular in _singulars(name) if singular in self._parents), name)
        return min(name, self._equivalent.get(name, name))

    def foldings(self, name: str) -> tuple[str, ...]:
        """The other spellings under which what a name means may be found: its singular, its synonym.

        >>> default().foldings("trees"), default().foldings("shoes"), default().foldings("sprockets")
        (('tree',), ('shoe',), ('sprocket',))
        """
        base = self.base(name)
        if base != name:
            return (base,)
        return () if name in self._parents else _singulars(name)

    def implied(self, name: str) -> tuple[tuple[str, str], ...]:
        """Family and value that every member of a class has."""
        return tuple(
            dict.fromkeys(pair for kind in self.kinds(name) for pair in self._restrictions.get(kind, ()))
        )

    def canonical(self, value: str) -> str:
        """The spelling of a value that the families use."""
        return self._canonical.get(value, value)

    def spellings(self, value: str) -> tuple[str, ...]:
        """Other spellings of a value."""
        return self._spellings.get(value, ())

    def families_of(self, value: str) -> tuple[str, ...]:
        """The families a value belongs to, by name."""
        return self._families_of.get(value, ())

    def readings(self, relation: str) -> tuple[Reading, ...]:
        """List the ways to find a relation: itself, then narrower ones, then the same from the other side.

        >>> default().readings("to the left of")
        (Reading(name='to the left of', reversed=False), Reading(name='to the right of', reversed=True))
        """
        found = self._readings.get(relation)
        if found is None:
            names = [relation]
            for name in names:
                names += [narrow for narrow in self._narrower.get(name, ()) if narrow not in names]
            mirrored = [Reading(inverse, True) for name in names for inverse in self._inverse.get(name, ())]
            found = self._readings[relation] = tuple(
                dict.fromkeys([*(Reading(name, False) for name in names), *mirrored])
            )
        return found

    def answer(self, relation: str) -> str:
        """Spell a relation as an answer does.

        >>> default().answer("in front of"), default().answer("riding")
        ('front', 'riding')
        """
        return self._answers.get(relation, relation)

    def axis(self, relation: str) -> Axis | None:
        """A relation's condition on two box centres, where it has one."""
        return self._axes.get(relation)


def _name(iri: str) -> str:
    return THING if iri == f"{NAMESPACE}Object" else phrase_of(iri)


def _singulars(name: str) -> tuple[str, ...]:
    """The endings of regular English plurals, with those of their singulars."""
    if name.endswith("ies"):
        return (f"{name[:-3]}y", name[:-1])
    if name.endswith("es"):
        return (name[:-1], name[:-2])
    return (name[:-1],) if name.endswith("s") and not name.endswith("ss") else ()


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for key, value in pairs:
        found.setdefault(key, set()).add(value)
    return {key: tuple(sorted(values)) for key, values in found.items()}


def _equivalents(graph: rdflib.Graph) -> dict[str, str]:
    from rdflib.namespace import OWL

    pairs = [(phrase_of(str(a)), phrase_of(str(b))) for a, b in graph.subject_objects(OWL.equivalentClass)]
    return dict(sorted([*pairs, *((b, a) for a, b in pairs)]))


def _inverses(graph: rdflib.Graph) -> dict[str, tuple[str, ...]]:
    from rdflib.namespace import OWL, RDF

    pairs = [(phrase_of(str(a)), phrase_of(str(b))) for a, b in graph.subject_objects(OWL.inverseOf)]
    symmetric = [
        (name, name) for r in graph.subjects(RDF.type, OWL.SymmetricProperty) if (name := phrase_of(str(r)))
    ]
    return _grouped([*pairs, *((b, a) for a, b in pairs), *symmetric])


@cache
def default() -> Ontology:
    """The tables of the TBox that ships with the package."""
    return Ontology(TBox.load("gqa"))
