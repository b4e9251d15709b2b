"""Check a growing branch against the shapes of a TBox, after each change.

The verdict is pyshacl's on the state, without the violations from before the change. A fast check reads only
the changed triples. It covers the property shapes of node shapes with class targets: the counts, classes,
datatypes and patterns of a property's values (``sh:minCount``, ``sh:maxCount``, ``sh:class``,
``sh:datatype``, ``sh:pattern``). Where a change reaches any other shape, or a subclass or value that the fast
check cannot judge, pyshacl checks the state.

So there are two judges, which must agree. The fast check is *unsure* of a value whose text a store may
change, as it merges ``"1"`` and ``"01"``: unless the check knows that the text is harmless, pyshacl judges.

For an intervention, a property's ``rdfs:domain`` and ``rdfs:range`` are checked too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from math import inf
from typing import NamedTuple

import pyoxigraph as ox

from substrate.base.delta import Term, Triple
from substrate.base.extras import MissingExtraError
from substrate.base.vocabulary import RDF_TYPE, SHACL, SUBCLASS
from substrate.rules._shacl import deactivated, owner, sh, sh_terms, targets
from substrate.rules.limits import read_limit
from substrate.rules.tbox import TBox

_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_ENDS = (ox.NamedNode(_RDFS + "domain"), ox.NamedNode(_RDFS + "range"))
_PLAIN = {f"{_XSD}string": "", f"{_XSD}integer": r"-?[0-9]+", f"{_XSD}boolean": "true|false"}
"""The texts that fit a datatype for every reader; pyshacl judges other texts."""
# Terms that constrain nothing
_SILENT = sh_terms("name description order group severity deactivated message rule")
_OF_NODES = sh_terms("property targetClass") | _SILENT
_OF_PROPERTIES = sh_terms("path maxCount minCount class datatype pattern") | _SILENT
"""The terms of a covered shape."""
_ANYWHERE = sh_terms("sparql target closed expression")
"""Terms with which a shape may read any triple."""
_INDIVIDUAL = ox.NamedNode("http://www.w3.org/2002/07/owl#NamedIndividual")


class Shape(NamedTuple):
    """A shape's constraints on the values of one property, for the nodes of its target classes.

    >>> {shape.most for shape in shapes(TBox.load("village")) if shape.path.value.endswith(":at")}
    {1}
    """

    name: str
    targets: frozenset[ox.NamedNode]
    path: ox.NamedNode
    most: float
    least: int
    classes: tuple[frozenset[ox.NamedNode], ...]
    datatype: ox.NamedNode | None
    patterns: tuple[re.Pattern[str], ...]
    message: str

    def violation(self, store: ox.Store, focus: Term, exact: bool) -> str:
        """A node's triples that break the shape, in words; empty if there are none.

        Raises:
            _UnsureError: only pyshacl can judge a value.
        """
        if not _is_of(store, focus, self.targets):
            return ""
        values = [quad.object for quad in store.quads_for_pattern(focus, self.path, None)]  # pyright: ignore
        if not exact and any(map(_may_be_respelled, values)):
            raise _UnsureError
        counted = self.least <= len(values) <= self.most
        wrong = values if not counted else [value for value in values if not self._allows(store, value)]
        if counted and not wrong:
            return ""
        wrong_values = ", ".join(sorted(map(str, wrong))) or "nothing"
        return f"{focus} {self.path} {wrong_values}: {self.message} (shape {self.name})"

    def _allows(self, store: ox.Store, value: Term) -> bool:
        if self.datatype:
            if not isinstance(value, ox.Literal) or value.datatype != self.datatype:
                return False
            if _may_be_respelled(value) and not re.fullmatch(_PLAIN[self.datatype.value], value.value):
                raise _UnsureError
        if self.patterns and (_may_be_respelled(value) or not isinstance(value, ox.Literal | ox.NamedNode)):
            raise _UnsureError
        return all(_is_of(store, value, classes) for classes in self.classes) and all(
            pattern.search(value.value)  # pyright: ignore[reportAttributeAccessIssue]  # checked above
            for pattern in self.patterns
        )


class Changes(NamedTuple):
    """Changes of a state, and the state on both sides of them.

    The check of most changes needs only the store; so the states, each triple in its own spelling, are made
    when pyshacl must judge.
    """

    quads: Sequence[ox.Quad]
    """The triples that were inserted or retracted."""
    store: ox.Store
    """The state after the changes."""
    exact: bool
    """Whether the store has each spelling of a value: a store merges two spellings of one value."""
    before: Callable[[], Iterable[Triple]]
    after: Callable[[], Iterable[Triple]]


class _UnsureError(Exception):
    """The fast check cannot judge a value."""


class _Plan(NamedTuple):
    """The way in which each shape of a TBox is checked.

    Attributes:
        shapes: the covered shapes.
        by_term: the covered shapes by each term that they name: path, target classes, classes of values.
        others: the names of the shapes that pyshacl judges, by each term that they read (``None``: any term).
    """

    shapes: tuple[Shape, ...]
    by_term: dict[Term, list[Shape]]
    others: dict[Term | None, set[str]]

    def reached(self, tbox: TBox, changes: Changes) -> set[str]:
        """The names of the shapes that changes reach, and that the fast check cannot judge."""
        names = set(self.others.get(None, ()))
        for quad in changes.quads if self.others else ():
            names |= self.others.get(quad.predicate, set())
            names |= self.others.get(quad.object, set()) if quad.predicate == RDF_TYPE else set()
        # The fast check knows the subclasses that the TBox states, and not those of a log
        lower = changes.store.quads_for_pattern(None, SUBCLASS, None)
        for quad in (*lower, *(quad for quad in changes.quads if quad.predicate == SUBCLASS)):
            upper = quad.object
            if isinstance(upper, ox.NamedNode) and quad.subject not in tbox.below(upper):
                names |= {shape.name for shape in self.by_term.get(upper, ())} | self.others.get(upper, set())
        return names

    def violations(self, changes: Changes) -> Iterator[str]:
        """The violations of the covered shapes at the nodes that changes reach; empty texts for none."""
        pairs: dict[tuple[Shape, Term], None] = {}
        for quad in changes.quads:
            kind = quad.object if quad.predicate == RDF_TYPE else None
            for shape in self.by_term.get(kind or quad.predicate, ()):
                if kind is None or kind in shape.targets:
                    pairs[shape, quad.subject] = None
                if any(kind in classes for classes in shape.classes):
                    quads = changes.store.quads_for_pattern(None, shape.path, quad.subject)
                    pairs.update(((shape, other.subject), None) for other in quads)
        return (shape.violation(changes.store, focus, changes.exact) for shape, focus in pairs)


@lru_cache(16)
def _plan(tbox: TBox) -> _Plan:
    """Sort the shapes of a TBox. A root is a node with a word of SHACL; the cases of a root are:

    1. It is deactivated, or it has no target: nobody checks it. A property shape inside another shape has no
       target either; it is a part of that shape.
    2. It has only the words of a plain node shape (``_OF_NODES``): each of its property shapes is a part, and
       a part that is not deactivated is covered if :func:`_shape` can read it.
    3. It has another word: pyshacl judges the root as a whole, if a change has a term that the root may read.
       So pyshacl also judges the parts of case 2 that are not covered.
    4. The TBox defines components or has named individuals (``strange``): any word may be a constraint, so
       after any change pyshacl judges each root that has a target.
    """
    off = deactivated(tbox.quads)
    # A component of the TBox's own makes any word a constraint; pyshacl adds named individuals to each state
    strange = any(quad.predicate == sh("parameter") or quad.object == _INDIVIDUAL for quad in tbox.quads)
    covered: list[Shape] = []
    by_term: dict[Term, list[Shape]] = {}
    others: dict[Term | None, set[str]] = {}
    for root in sorted({quad.subject for quad in tbox.quads if _is_shacl(quad)} - off, key=str):
        root_targets = [target for _, target in targets(tbox.store, tbox.classes, root)]
        words = {quad.predicate for quad in tbox.quads if quad.subject == root and _is_shacl(quad)}
        fast = not strange and words <= _OF_NODES | {RDF_TYPE}
        parts = _objects(tbox, root, sh("property")) if fast else [root]
        below = frozenset[ox.NamedNode]().union(*map(tbox.below, root_targets if fast else ()))  # pyright: ignore
        for part in parts if root_targets else ():
            shape = _shape(tbox, root, below, part) if fast and part not in off else None
            if shape:
                covered.append(shape)
                for term in {shape.path, *shape.targets, *frozenset[Term]().union(*shape.classes)}:
                    by_term.setdefault(term, []).append(shape)
            elif part not in off:  # pyshacl judges this part when a change has a term that it may read
                for term in {None} if strange else {*_terms_read(tbox, part), *below}:
                    others.setdefault(term, set()).add(str(owner(tbox.quads, root)))
    return _Plan(tuple(covered), by_term, others)


def _is_shacl(quad: ox.Quad) -> bool:
    """Tell whether a triple has a word or a type of SHACL."""
    word = quad.object if quad.predicate == RDF_TYPE else quad.predicate
    return isinstance(word, ox.NamedNode) and word.value.startswith(SHACL)


def _objects(tbox: TBox, node: Term, word: ox.NamedNode) -> list[Term]:
    quads = tbox.store.quads_for_pattern(node, word, None)  # pyright: ignore[reportArgumentType]
    return sorted((quad.object for quad in quads), key=str)


def _shape(tbox: TBox, root: Term, below: frozenset[ox.NamedNode], part: Term) -> Shape | None:
    """A property shape for the fast check; ``None`` if the check does not cover all of it.

    It does not cover a shape in these cases, in the order of the code:

    - it has a word that is not in ``_OF_PROPERTIES``
    - it has two datatypes, two greatest or two least counts
    - its path is not one IRI; a class or a datatype is not an IRI; a pattern is not a plain text
    - its path is ``rdf:type`` or ``rdfs:subClassOf``, whose values follow from other triples
    - it names a datatype or a term of XSD or RDF whose texts the check cannot compare (``_PLAIN``)
    - a pattern is no regular expression of Python

    Raises:
        TBoxError: a count is not a whole number.
    """
    words = {quad.predicate for quad in tbox.quads if quad.subject == part and _is_shacl(quad)}
    names = ("path", "class", "datatype", "pattern", "maxCount", "minCount", "message")
    paths, kinds, types, texts, most, least, messages = (_objects(tbox, part, sh(name)) for name in names)
    nodes = [term for term in (*paths, *kinds, *types) if isinstance(term, ox.NamedNode)]
    strings = [term.value for term in texts if isinstance(term, ox.Literal) and not _may_be_respelled(term)]
    # Classes and datatypes must be IRIs, patterns must be texts of one spelling, and the path a single IRI
    are_read = len(paths) == 1 and len(nodes) == 1 + len(kinds) + len(types) and len(strings) == len(texts)
    if (
        not words <= _OF_PROPERTIES | {RDF_TYPE}
        or max(map(len, (types, most, least))) > 1
        or not are_read
        or nodes[0] in (RDF_TYPE, SUBCLASS)
        or any(node.value.startswith((_XSD, _RDF)) and node.value not in _PLAIN for node in nodes)
    ):
        return None
    limits = [
        [read_limit(tbox.name, tbox.store, part, f"sh:{word}", term) for term in terms]
        for word, terms in (("maxCount", most), ("minCount", least))
    ]
    try:
        patterns = tuple(map(re.compile, strings))
    except re.error:
        return None
    return Shape(
        str(owner(tbox.quads, root)),
        below,
        nodes[0],
        limits[0][0] if most else inf,
        limits[1][0] if least else 0,
        tuple(tbox.below(kind) for kind in kinds),  # pyright: ignore[reportArgumentType]
        nodes[-1] if types else None,
        patterns,
        messages[0].value if messages else "breaks a shape",  # pyright: ignore
    )


def _terms_read(tbox: TBox, part: Term) -> set[Term | None]:
    """The terms that a shape may read: those that it names, and those below them; ``None`` for any."""
    read, queue = set[Term | None](), [part]
    while queue:
        node = queue.pop()
        if node in read or isinstance(node, ox.Literal):
            continue
        read |= {node, *tbox.below(node)} if isinstance(node, ox.NamedNode) else {node}
        for quad in tbox.quads:
            if quad.subject == node:
                queue += [quad.object]
                read |= {None} if quad.predicate in _ANYWHERE else set()
    return read


def shapes(tbox: TBox) -> tuple[Shape, ...]:
    """The shapes of a TBox that the fast check covers."""
    return _plan(tbox).shapes


def broken(tbox: TBox, changes: Changes) -> list[str]:
    """The shapes of a TBox that some changes break, each with the triples, in words.

    Raises:
        MissingExtraError: a change needs pyshacl, which is not installed; names the shapes.
        TBoxError: a shape cannot be checked.
    """
    plan = _plan(tbox)
    if not changes.quads or not (plan.shapes or plan.others):
        return []
    names = plan.reached(tbox, changes)
    if not names:
        try:
            return list(filter(None, plan.violations(changes)))
        except _UnsureError:
            names = {shape.name for shape in plan.shapes}
    try:
        faults = _judged(tbox, changes.after())
        standing = _judged(tbox, changes.before()) if faults else {}
    except MissingExtraError as error:
        what = f"{error.what}, and only pyshacl can check {', '.join(sorted(names))}"
        raise MissingExtraError(
            what, where=(tbox.name,), hint=f"{error.hint}, or give check=False"
        ) from error
    return sorted(text for mark, text in faults.items() if mark not in standing)


def _judged(tbox: TBox, state: Iterable[Triple]) -> dict[object, str]:
    """pyshacl's violations in a state, in words, by their marks."""
    return {result.mark: f"{result.violation} (shape {result.shape})" for result in tbox.results(state)}


def misplaced(tbox: TBox, store: ox.Store, quads: Iterable[ox.Quad]) -> list[str]:
    """The triples whose subject or object does not have the class that their property requires, in words."""
    faults: list[str] = []
    for quad in quads:
        for which, end in zip(_ENDS, (quad.subject, quad.object), strict=True):
            for declared in tbox.store.quads_for_pattern(quad.predicate, which, None):
                class_ = declared.object
                if not isinstance(class_, ox.NamedNode) or class_ not in tbox.classes:
                    continue
                if not _is_of(store, end, tbox.below(class_)):
                    faults.append(f"{quad}: {end} is no {tbox.label(class_)} ({which})")
    return faults


def _may_be_respelled(value: Term) -> bool:
    """Tell whether a store may change the text of a value."""
    kind = value.datatype.value if isinstance(value, ox.Literal) else ""
    return kind.startswith(_XSD) and kind != f"{_XSD}string"


def _is_of(store: ox.Store, node: Term, classes: frozenset[ox.NamedNode]) -> bool:
    if not isinstance(node, ox.NamedNode | ox.BlankNode):
        return False
    return not classes.isdisjoint(quad.object for quad in store.quads_for_pattern(node, RDF_TYPE, None))
