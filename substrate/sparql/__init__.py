"""The tokens of SPARQL and Turtle, and a guard against untrusted queries."""

from substrate.sparql.guard import QueryError, QueryLimits, Solutions, checked, confined, query
from substrate.sparql.tokens import Token

__all__ = ["QueryError", "QueryLimits", "Solutions", "Token", "checked", "confined", "query"]
