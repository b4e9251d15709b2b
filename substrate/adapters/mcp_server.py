"""`substrate mcp LOG`: a log as an agent's memory, over the Model Context Protocol.

The server reads, and writes only where it was told so. A query is checked and run within limits
(:mod:`substrate.sparql.guard`). Terms come and go as in N-Triples; an IRI may come without its brackets, or
as a prefixed name of the TBox. https://modelcontextprotocol.io
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyoxigraph as ox

from substrate import __version__
from substrate.ask.tellings import Learning
from substrate.base.errors import ParameterError, SubstrateError
from substrate.base.extras import needed
from substrate.base.vocabulary import AWARE_OF
from substrate.branch.interventions import RetractAwareness
from substrate.log.event_log import EventLog, Term
from substrate.memory.memory import Memory
from substrate.memory.records import Ground, Record
from substrate.rules.tbox import TBox
from substrate.sparql.guard import QueryLimits, Solutions, query

T = TypeVar("T")

NESTING = 16
"""Triple terms that may stand inside one another."""
_ABOUT = """An append-only memory of RDF triples. Each change has a tick; ask for any tick.
Terms are N-Triples (<iri>, "text"); an IRI may go without brackets.
`who_knew` and `told_by` say who was aware of a fact and from whom, `why` names the records behind a triple,
`what_if_forgotten` says what would not have been known."""


class Server:
    """The tools' work on a log; calls take their turns.

    Args:
        path: the log's file; read again where it has grown, held open where ``write`` is given.
        write: whether the memory may be written to.
        tbox: its words for knowing and its prefixes.
        limits: of one query.
    """

    def __init__(
        self, path: Path, *, write: bool = False, tbox: TBox | None = None, limits: QueryLimits | None = None
    ) -> None:
        self.path, self.write, self.tbox, self.limits = path, write, tbox, limits or QueryLimits()
        self._turn = threading.RLock()
        self._seen: tuple[int, int] | None = None
        self._memory = Memory(EventLog.open(path) if write else EventLog(), tbox)

    def memory(self) -> Memory:
        """The memory as its file has it now."""
        if not self.write:
            about = self.path.stat() if self.path.exists() else None
            seen = (about.st_size, about.st_mtime_ns) if about else None
            if seen != self._seen or seen is None:
                self._memory, self._seen = Memory(EventLog.read(self.path), self.tbox), seen
        return self._memory

    def taking_turns(self, tool: Callable[..., T], error_type: type[Exception]) -> Callable[..., T]:
        """A tool as a protocol calls it: one at a time, the project's errors told to the agent as its own."""

        def called(*arguments: Any, **named: Any) -> T:
            with self._turn:
                try:
                    return tool(*arguments, **named)
                except SubstrateError as error:
                    raise error_type(str(error)) from None

        # What the protocol tells of a tool is its signature and docstring.
        for name in ("__name__", "__doc__", "__annotations__", "__wrapped__"):
            setattr(called, name, tool if name == "__wrapped__" else getattr(tool, name))
        return called

    def term(self, text: str) -> Term:
        """A term as an agent writes it.

        Raises:
            ParameterError: it is none.
        """
        prefixes: Mapping[str, str] = self.tbox.prefixes if self.tbox else {}
        name, colon, rest = text.partition(":")
        try:
            if text[:1] in ("<", '"', "_") and text.count("<<(") <= NESTING:
                (quad,) = ox.parse(f"<urn:s> <urn:p> {text} .", ox.RdfFormat.N_TRIPLES)
                return quad.object
            if colon:
                return ox.NamedNode(prefixes.get(name, f"{name}:") + rest)
        except (SyntaxError, ValueError):
            pass
        raise ParameterError(
            f"{text[:80]!r} is no term",
            hint='Write <https://example.org/ann>, "a text" or 7 as "7"^^<…#integer>',
        )

    # Reading

    def about(self) -> dict[str, Any]:
        """Describe this memory: its number of changes and ticks, its digest, its prefixes."""
        log = self.memory().log
        return {
            "deltas": len(log),
            "last_tick": log.last_tick,
            "digest": log.digest,
            "writable": self.write,
            "prefixes": dict(self.tbox.prefixes) if self.tbox else {},
        }

    def sparql(self, sparql: str, tick: int | None = None) -> dict[str, Any]:
        """Ask a SPARQL query (SELECT, ASK, CONSTRUCT, DESCRIBE) of the state at a tick, else of the last."""
        prefixes = self.tbox.prefixes if self.tbox else {}
        state = self.memory().log.state(tick)
        found = query(state, sparql, prefixes=prefixes, limits=self.limits)
        if isinstance(found, bool):
            return {"tick": state.tick, "boolean": found}
        if isinstance(found, Solutions):
            return {
                "tick": state.tick,
                "variables": list(found.variables),
                "rows": [_texts(r) for r in found.rows],
            }
        return {"tick": state.tick, "triples": sorted(map(str, found))}

    def as_of(self, tick: int | None = None, about: int | None = None) -> dict[str, Any]:
        """List what was remembered at a tick; with `about`, what was held true then of that tick."""
        state = self.memory().as_of(tick, about=about)
        lines = state.nquads().splitlines()
        return {"tick": state.tick, "total": len(lines), "triples": lines[: self.limits.rows]}

    def who_knew(self, fact: str, tick: int | None = None) -> dict[str, Any]:
        """List who was aware of a fact at a tick, in the order in which they came to know."""
        return {"who": _texts(self.memory().who_knew(self.term(fact), tick))}

    def told_by(self, agent: str, fact: str, tick: int | None = None) -> dict[str, Any]:
        """Trace how an agent came to know a fact, and how each teller did, with the deltas."""
        chain = self.memory().told_by(self._node(agent), self.term(fact), tick)
        return {"chain": [_learning(link) for link in chain]}

    def why(self, subject: str, predicate: str, object: str, tick: int | None = None) -> dict[str, Any]:
        """The records that say a triple, and what they came from: author, source, time, deltas."""
        terms = (self.term(text) for text in (subject, predicate, object))
        return {"grounds": [_ground(ground) for ground in self.memory().why(*terms, tick=tick)]}

    def impact(self, subject: str, predicate: str, object: str) -> dict[str, Any]:
        """List the records that would lose their last ground if a triple were forgotten."""
        terms = (self.term(text) for text in (subject, predicate, object))
        return {"lost": [_ground(ground) for ground in self.memory().impact(*terms)]}

    def history(self, subject: str, predicate: str, object: str) -> dict[str, Any]:
        """List when a triple was true, as ticks from `start` up to, not including, `end`."""
        subject_, predicate_, object_ = (self.term(text) for text in (subject, predicate, object))
        if not isinstance(predicate_, ox.NamedNode):
            raise ParameterError(f"{predicate!r} is no IRI", where=("predicate",), hint="Write <https://…>")
        found = self.memory().log.history((self._node(str(subject_)), predicate_, object_))
        return {
            "intervals": [{"start": interval.start, "end": interval.end} for interval in found.intervals],
            "deltas": [change.position for change in found.changes],
        }

    def what_if_forgotten(self, agent: str, fact: str, at: int) -> dict[str, Any]:
        """Tell what would differ today had an agent forgotten a fact at a tick; nothing is changed."""
        memory = self.memory()
        named, known = self._node(agent), self.term(fact)
        words = sorted(memory.tbox.below(AWARE_OF), key=str)
        before = memory.log.state(at - 1)
        word = next((word for word in words if (named, word, known) in before), AWARE_OF)
        found = memory.compare(memory.imagine(at, RetractAwareness(named, known, word)))
        sides = {"would_hold": found.inserted, "would_not_hold": found.retracted}
        return {name: [str(ox.Triple(*said)) for said in side] for name, side in sides.items()}

    # Writing

    def observe(
        self,
        subject: str,
        predicate: str,
        object: str,
        author: str | None = None,
        source: str | None = None,
        valid_from: int | None = None,
    ) -> dict[str, Any]:
        """Remember a triple of the world; `valid_from` is the tick of the world from which it holds."""
        terms = (self.term(text) for text in (subject, predicate, object))
        written = self.memory().observe(*terms, valid_from=valid_from, author=author, source=source)
        return _record(written)

    def believe(
        self, agent: str, fact: str, told_by: str | None = None, author: str | None = None
    ) -> dict[str, Any]:
        """Remember that an agent is aware of a fact, and from whom."""
        teller = self._node(told_by) if told_by else None
        return _record(
            self.memory().believe(self._node(agent), self.term(fact), told_by=teller, author=author)
        )

    def forget(
        self, subject: str, predicate: str, object: str, author: str | None = None, source: str | None = None
    ) -> dict[str, Any]:
        """Take a triple out of the present memory, and withdraw what rests on it (`impact` says what).

        An author who said it takes back their own word alone. Earlier ticks still have it.
        """
        terms = (self.term(text) for text in (subject, predicate, object))
        return _record(self.memory().forget(*terms, author=author, source=source))

    def _node(self, text: str) -> ox.NamedNode | ox.BlankNode:
        found = self.term(text)
        if not isinstance(found, ox.NamedNode | ox.BlankNode):
            raise ParameterError(f"{text!r} names nobody", hint="Write an IRI")
        return found

    def close(self) -> None:
        """Let another writer open the file."""
        self._memory.log.close()


READING: Sequence[str] = (
    "about",
    "sparql",
    "as_of",
    "who_knew",
    "told_by",
    "why",
    "impact",
    "history",
    "what_if_forgotten",
)
"""Tools that every server has."""
WRITING: Sequence[str] = ("observe", "believe", "forget")
"""Tools of a server that may write."""


def build(server: Server) -> Any:
    """The protocol's server with the tools of one of ours; needs the extra ``mcp``."""
    protocol = needed("mcp.server").MCPServer(
        "substrate", version=__version__, instructions=_ABOUT, log_level="WARNING"
    )
    hints = needed("mcp_types").ToolAnnotations
    error_type = needed("mcp.server.mcpserver.exceptions").ToolError
    for name in (*READING, *(WRITING if server.write else ())):
        reads = name in READING
        protocol.add_tool(
            server.taking_turns(getattr(server, name), error_type),
            name=name,
            annotations=hints(read_only_hint=reads, destructive_hint=False, open_world_hint=False),
        )
    return protocol


def serve(
    path: Path, *, write: bool = False, tbox: TBox | None = None, limits: QueryLimits | None = None
) -> None:
    """Serve a log over standard input and output until the client goes.

    Raises:
        MissingExtraError: the extra ``mcp`` is not installed.
        LogError: the file is no log, or another writer holds it.
    """
    needed("mcp.server")
    server = Server(path, write=write, tbox=tbox, limits=limits)
    try:
        server.memory()
        build(server).run("stdio")
    finally:
        server.close()


def _texts(terms: Sequence[Term | None]) -> list[str | None]:
    return [None if term is None else str(term) for term in terms]


def _record(record: Record) -> dict[str, Any]:
    return {"record": str(record.node), "tick": record.tick, "deltas": list(record.positions)}


def _learning(link: Learning) -> dict[str, Any]:
    source = str(link.source) if link.source else None
    return {"who": str(link.knower), "tick": link.tick, "from": source, "deltas": list(link.evidence)}


def _ground(ground: Ground) -> dict[str, Any]:
    return {
        "record": str(ground.record),
        "tick": ground.tick,
        "says": str(ox.Triple(*ground.said)),
        "author": str(ground.author) if ground.author else None,
        "source": str(ground.source) if ground.source else None,
        "time": ground.time.isoformat() if ground.time else None,
        "lost": ground.lost,
        "deltas": list(ground.positions),
    }
