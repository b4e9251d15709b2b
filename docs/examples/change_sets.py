"""An RDF dataset's change sets: two releases of a vocabulary as one log, asked for any day and passed on.

Run it with nothing but the library: `python docs/examples/change_sets.py`.
"""

from __future__ import annotations

from pyoxigraph import NamedNode

from substrate import Delta, EventLog, Op
from substrate.log import difference, from_state, to_turtle

MARCH = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix : <https://example.org/soil#> .
:clay a skos:Concept ; skos:prefLabel "clay"@en .
:loam a skos:Concept ; skos:prefLabel "loam"@en ; skos:broader :clay .
"""
APRIL = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix : <https://example.org/soil#> .
:soil a skos:Concept ; skos:prefLabel "soil"@en .
:clay a skos:Concept ; skos:prefLabel "clay"@en , "Ton"@de ; skos:broader :soil .
:loam a skos:Concept ; skos:prefLabel "loam"@en ; skos:broader :soil .
"""
PREFIXES = {"skos": "http://www.w3.org/2004/02/skos/core#", "": "https://example.org/soil#"}


def released(log: EventLog, turtle: str, tick: int) -> None:
    """Append the changes that make the log's state equal to a release."""
    change = difference(log.state(), from_state(turtle).state())
    log.extend([Delta(tick, Op.RETRACT, triple) for triple in change.retracted])
    log.extend([Delta(tick, Op.INSERT, triple) for triple in change.inserted])


def main() -> None:
    """Record both releases, and hand them on."""
    log = EventLog()
    released(log, MARCH, tick=202603)
    released(log, APRIL, tick=202604)

    change = log.diff(202603, 202604)
    print(f"April: {len(change.inserted)} statements came, {len(change.retracted)} went")
    for triple in change.retracted:
        print("  went:", *triple)

    broader = NamedNode(PREFIXES["skos"] + "broader")
    for tick in (202603, 202604):
        narrower = sorted(str(concept) for concept, _, _ in log.state(tick).match(None, broader))
        print(f"{tick}: narrower than something: {' '.join(narrower)}")

    print(to_turtle(log.state(202603), PREFIXES), end="")

    # A patch is the log as text. Its receiver gets the same digest, or an error that names the edited tick.
    received = EventLog.from_patch(log.to_patch())
    print("received as sent:", received.digest == log.digest)


if __name__ == "__main__":
    main()
