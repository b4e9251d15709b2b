"""Terms and triples in N-Triples, in one spelling each."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyoxigraph as ox

from substrate.base.delta import Term, Triple, check_terms
from substrate.base.limits import LIMITS

# The deepest nesting of triple terms; each level has two brackets
DEEPEST = LIMITS.depth // 2


def text_of(triple: Triple) -> str:
    """A triple's one spelling in N-Triples, without the closing full stop.

    >>> text_of((ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), ox.Literal("a")))
    '<urn:s> <urn:p> "a"'

    Raises:
        TypeError: a term cannot be the subject, predicate or object of a triple.
        ValueError: there are not three terms, or triple terms are nested too deeply.
    """
    check_terms(triple)
    subject, predicate, object_ = triple
    return f"{subject} {predicate} {spelled(object_)}"


def spelled(term: Term) -> str:
    """A term as :func:`text_of` spells it.

    >>> spelled(ox.Triple(ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), ox.Literal("a")))
    '<<( <urn:s> <urn:p> "a" )>>'

    Raises:
        ValueError: triple terms are nested so deeply that a parser would exhaust its stack.
    """
    if not isinstance(term, ox.Triple):
        return str(term)
    inner, depth = term.object, 1
    while isinstance(inner, ox.Triple):
        inner, depth = inner.object, depth + 1
        if depth > DEEPEST:
            raise ValueError(f"its triple terms stand more than {DEEPEST} deep inside one another")
    return f"<<( {term} )>>"


def quads_of(texts: Iterable[str]) -> list[ox.Quad]:
    """Quads parsed from the spellings of :func:`text_of`.

    >>> quads_of(['<urn:s> <urn:p> "a"'])[0].object.value
    'a'
    """
    lines = "".join([f"{text} .\n" for text in texts])
    return list(ox.parse(lines, ox.RdfFormat.N_TRIPLES))


def texts_of(quads: Iterable[ox.Quad]) -> list[str]:
    """Spell each quad of the default graph as :func:`text_of` does.

    >>> texts_of([ox.Quad(ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), ox.Literal("a"))])
    ['<urn:s> <urn:p> "a"']
    """
    lines = ox.serialize(quads, format=ox.RdfFormat.N_TRIPLES)
    # Without an output, `serialize` returns bytes; line feeds inside literals are escaped
    return lines.decode().split(" .\n")[:-1]  # pyright: ignore[reportOptionalMemberAccess]


def integer(value: int) -> str:
    """The spelling of a whole number.

    >>> integer(3)
    '"3"^^<http://www.w3.org/2001/XMLSchema#integer>'
    """
    return f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>'


def fitting(
    subject: Term | None = None,
    predicate: Term | None = None,
    object: Term | None = None,  # the name in RDF
) -> Callable[[str], bool]:
    """Make a test of whether a triple's spelling fits a pattern; ``None`` fits any term.

    >>> fitting(predicate=ox.NamedNode("urn:p"))('<urn:s> <urn:p> "a b"')
    True
    """
    # The spellings of subject and predicate contain no space, so two splits give the three terms
    wanted = tuple(None if term is None else spelled(term) for term in (subject, predicate, object))
    if wanted[1] is None and wanted[2] is None:
        start = "" if wanted[0] is None else f"{wanted[0]} "
        return lambda text: text.startswith(start)
    return lambda text: all(
        want is None or want == part for want, part in zip(wanted, text.split(" ", 2), strict=True)
    )
