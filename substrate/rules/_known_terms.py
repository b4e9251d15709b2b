"""Check that a TBox uses only known terms of the core."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files

import pyoxigraph as ox

from substrate.base import vocabulary
from substrate.base.errors import SubstrateError, TBoxError
from substrate.base.vocabulary import NAMESPACE, SHACL
from substrate.rules._shacl import deactivated, owner, sh, sh_terms
from substrate.rules.rule import iris_of
from substrate.sparql.guard import checked
from substrate.sparql.tokens import tokens

# The terms of logs and memories; a TBox needs none of them.
_OF_LOGS = {"awaits", "branch", "digest", "parent", "position", "Insertion", "Retraction"}
CORE_TERMS = frozenset(
    {term.value for term in vars(vocabulary).values() if isinstance(term, ox.NamedNode)}
    | {NAMESPACE + name for name in ("tick", *_OF_LOGS)}
)
"""The terms that the core knows: its own, and some of RDF and RDFS."""
_CORE_TERM = re.compile(rf"{NAMESPACE}[^:/#]+$")
_SHACL = sh_terms((files("substrate.rules") / "shacl_terms.txt").read_text("utf-8"))
"""The terms of SHACL Core, SHACL-SPARQL and SHACL-AF, without the names of components."""
_TARGET, _SELECT = sh("target"), sh("select")
_CHECKING = sh_terms("sparql validator nodeValidator propertyValidator")
_QUERIES = {vocabulary.RETRACT.value, *(SHACL + name for name in ("construct", "select", "ask", "update"))}


def require_known_terms(name: str, quads: Sequence[ox.Quad], prefixes: Mapping[str, str]) -> None:
    """Refuse a TBox that uses an unknown ``core:`` or ``sh:`` term, or has a query that cannot be run.

    Raises:
        TBoxError: a term of the core or of SHACL is unknown, a query is refused, or a query of a shape does
            not give ``$this`` (names the shape).

    >>> from substrate.rules.tbox import TBox
    >>> TBox("t", "<urn:t:at> a <urn:substrate:locatoin> .")
    Traceback (most recent call last):
    substrate.base.errors.TBoxError: t: the core has no term 'locatoin'. Use one of awareOf, content,
    defeasible, exogenous, location, participant, recipient, retract, source, tick, Event.
    """
    named = {term.value for quad in quads for term in quad.triple if isinstance(term, ox.NamedNode)}
    for quad in quads:
        if quad.predicate.value in _QUERIES and isinstance(quad.object, ox.Literal):
            try:
                named |= iris_of(checked(quad.object.value, name), prefixes)
            except SubstrateError as error:
                raise TBoxError(error.what, where=error.where, hint=error.hint) from error
    _require_shacl(name, quads, named)
    # A TBox may use its own namespace as its name: urn:substrate:village.
    allowed = {iri.rstrip(":/#") for iri in prefixes.values()} | CORE_TERMS
    for unknown in sorted(iri for iri in named if _CORE_TERM.match(iri) and iri not in allowed):
        known = {term.removeprefix(NAMESPACE) for term in CORE_TERMS if term.startswith(NAMESPACE)}
        what = f"the core has no term {unknown.removeprefix(NAMESPACE)!r}"
        # Properties first: their names begin with a lower-case letter
        hint = f"Use one of {', '.join(sorted(known - _OF_LOGS, key=str.swapcase))}"
        raise TBoxError(what, where=(name,), hint=hint)


def _require_shacl(name: str, quads: Sequence[ox.Quad], named: set[str]) -> None:
    """Refuse terms that SHACL does not know, and constraints that would hold without a check."""
    words = {iri.removeprefix(SHACL) for iri in named if iri.startswith(SHACL)} - {""}
    words = {word for word in words if word.startswith("JS") or not word.endswith("ConstraintComponent")}
    faulty = {sh(word): f"SHACL has no term sh:{word} here" for word in words if sh(word) not in _SHACL}
    targeted = {quad.object for quad in quads if quad.predicate == _TARGET}
    checking = targeted | {quad.object for quad in quads if quad.predicate in _CHECKING} - deactivated(quads)
    for quad in quads:
        what = next((faulty[term] for term in quad.triple if term in faulty), "") if faulty else ""
        hint = "Correct the shape; constraints in JavaScript are not checked"
        if quad.predicate == _SELECT and quad.subject in checking:
            query = quad.object.value if isinstance(quad.object, ox.Literal) else ""
            if not _gives_this(query, quad.subject in targeted):
                what, hint = "its query does not give $this, so it could not fail", "Write SELECT $this …"
        if what:
            raise TBoxError(what, where=(name, f"shape {owner(quads, quad.subject)}"), hint=hint)


def _gives_this(query: str, is_target: bool) -> bool:
    """Tell whether each SELECT of a query projects ``$this``, as SHACL asks (sections 5.3.1 and A); for a
    target, the first SELECT.
    """
    text = " ".join(token for kind, token, _ in tokens(query) if kind in ("word", "variable", "mark"))
    this = re.compile(r"[?$]this\b")
    anywhere = this.search(text)
    innermost = re.compile(r"\([^()]*\)")
    while innermost.search(text):
        text = innermost.sub("", text)
    selects = re.findall(r"\bSELECT\b(.*?)(?:\bWHERE\b|\{)", text, re.IGNORECASE)
    return bool(selects) and all(
        this.search(part) or ("*" in part and anywhere) for part in (selects[:1] if is_target else selects)
    )
