"""Errors, terms, deltas, arguments, files and the core's few IRIs; every other package may import them."""

from substrate.base.delta import Delta, Op, Spelled, Term, Triple
from substrate.base.errors import (
    FormatError,
    InterventionError,
    LogError,
    ParameterError,
    ProgramError,
    SubstrateError,
    TBoxError,
)
from substrate.base.extras import MissingExtraError
from substrate.base.terms import Namespace, Value, term, triple, value

__all__ = [
    "Delta",
    "FormatError",
    "InterventionError",
    "LogError",
    "MissingExtraError",
    "Namespace",
    "Op",
    "ParameterError",
    "ProgramError",
    "Spelled",
    "SubstrateError",
    "TBoxError",
    "Term",
    "Triple",
    "Value",
    "term",
    "triple",
    "value",
]
