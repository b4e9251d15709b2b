"""Errors, terms, deltas, arguments, files and the core's few IRIs; every other package may import them.

Open ``delta.py`` first: triples, and the deltas that change them. The files by what they serve:

- errors: ``errors.py``; ``arguments.py`` checks a caller's arguments, ``limits.py`` bounds all input,
  ``extras.py`` names the extra that brings a missing package
- terms: ``terms.py`` converts Python values, ``times.py`` reads times, ``ntriples.py`` has the one spelling
  of a triple, ``turtle.py`` reads Turtle, ``rdflib_terms.py`` converts for rdflib, ``vocabulary.py`` has IRIs
- input: ``inputs.py`` reads files and JSON within the limits; on it build ``records.py``, the records of a
  large JSON file, and ``numbered.py``, files with a number in their name
- output: ``files.py`` writes whole files or nothing, and has every lock
- results: ``intervals.py`` (Wilson's interval), ``words.py`` (numbers in sentences)
"""

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
