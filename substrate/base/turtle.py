"""Read Turtle so that the same file gives the same triples each time."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from graphlib import TopologicalSorter
from hashlib import sha256

import pyoxigraph as ox

from substrate.base.ntriples import quads_of, texts_of

# The labels that the parser draws for nodes without one
_LABEL = re.compile(r"_:([0-9a-f]{16,32})")


def read_turtle(text: str) -> tuple[list[ox.Quad], dict[str, str]]:
    """Read a file's triples and prefixes; a node without a label gets one from its content.

    The content is the triples about the node and those that name it, so that the order of the statements does
    not matter. Two nodes of the same content get two labels. A label that the file gives stays. RDFC-1.0 is
    not used here: its time is factorial in the number of like nodes, so that a line of text could hang it.

    Raises:
        SyntaxError: the text is not Turtle.

    >>> first, second = (read_turtle("<urn:a> <urn:p> [ <urn:q> 1 ] , [] , [] .") for _ in "12")
    >>> first == second, len({quad.object for quad in first[0] if quad.subject.value == "urn:a"})
    (True, 3)
    """
    parser = ox.parse(text, ox.RdfFormat.TURTLE)
    quads = list(parser)
    prefixes = dict(parser.prefixes)
    given = set(_LABEL.findall(text))
    about, naming = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    inside: dict[str, set[str]] = {}
    lines = texts_of(quads)
    for line in lines:
        subject, _, rest = line.partition(" ")
        own, others = (set(_LABEL.findall(part)) - given for part in (subject, rest))
        for node in own:
            about[node].append(rest)
            inside[node] = inside.get(node, set()) | others
        for node in others:
            naming[node].append(line)
            inside.setdefault(node, set())
    if not inside:
        return quads, prefixes
    # A node is read after the nodes in its brackets, and named before them
    order = list(TopologicalSorter(inside).static_order())
    content, labels = dict[str, str](), dict[str, str]()

    def spelled(line: str) -> str:
        return _LABEL.sub(lambda m: f"_:{labels.get(m[1]) or content.get(m[1], m[1])}", line)

    for node in order:
        content[node] = _digest(*map(spelled, about[node]))
    alike = Counter[str]()
    for node in reversed(order):
        name = _digest(content[node], *map(spelled, naming[node]))
        alike[name] += 1
        labels[node] = f"b{name[:24]}" + (f"x{alike[name]}" if alike[name] > 1 else "")
    return quads_of(map(spelled, lines)), prefixes


def _digest(*texts: str) -> str:
    return sha256("\n".join(sorted(set(texts))).encode()).hexdigest()
