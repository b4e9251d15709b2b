"""The tokens of SPARQL and Turtle, and the guard of strangers' queries."""

from substrate.sparql.guard import QueryError, QueryLimits, Solutions, checked, confined, query
from substrate.sparql.tokens import Token

__all__ = [
    "QueryError",
    "QueryLimits",
    "Solutions",
    "Token",
    "checked",
    "confined",
    "query",
]
