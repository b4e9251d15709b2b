"""The tokens of SPARQL and Turtle, and two readers of a query's text.

Open ``tokens.py`` first: it cuts a text into words, strings, IRIs and marks. Two files build on it and do not
know each other: ``guard.py`` refuses or confines an untrusted query; ``patterns.py`` finds the triples on
which a query's answer may depend, so that a state needs no full store.
"""

from substrate.sparql.guard import QueryError, QueryLimits, Solutions, checked, confined, query
from substrate.sparql.tokens import Token

__all__ = ["QueryError", "QueryLimits", "Solutions", "Token", "checked", "confined", "query"]
