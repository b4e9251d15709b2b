"""An agent's memory in a log's file, with the words that a model uses for its terms.

The memory is up to date with its file at each call, also while another process writes the file.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from substrate.adapters._handles import LONG_NAME
from substrate.adapters._words import Text, Value, Words, normal
from substrate.base.delta import Triple
from substrate.base.errors import LogError, LogHeldError, ParameterError
from substrate.log.event_log import EventLog
from substrate.memory.memory import Memory
from substrate.memory.records import Ground, Node, Record
from substrate.rules.tbox import TBox
from substrate.sparql.guard import QueryLimits

MANY = 10
"""Authors of a fact, or values in an error, that are listed."""


class MemoryFile:
    """A memory in a file; calls that conflict take turns by its :attr:`lock`.

    Args:
        path: the log's file. Its growth is followed; with ``write`` it is held open.
        write: whether the log may be written to. While another process writes it, it is only read and
            followed, :attr:`held` names the holder, and :meth:`reopen` tries again to open it.
        tbox: its words for knowing, and its prefixes.
        limits: the limits of one query.

    Raises:
        LogError: the file is not a log, or does not exist.
    """

    def __init__(
        self, path: Path, *, write: bool = False, tbox: TBox | None = None, limits: QueryLimits | None = None
    ) -> None:
        self.path, self.write, self.tbox, self.limits = path, write, tbox, limits or QueryLimits()
        self.lock = threading.RLock()
        self.words = Words(tbox)
        self.held = ""
        if write:
            try:
                self._take(EventLog.open(path))
                return
            except LogHeldError as error:
                self.held = error.what
        elif not path.exists():
            raise LogError("there is no such log", where=(str(path),), hint="Name another; --write makes one")
        self._take(EventLog.read(path))

    def _take(self, log: EventLog) -> None:
        self._memory = Memory(log, self.tbox)
        self.words.learn(log)

    def reopen(self) -> None:
        """Open the file for writing, after another process held it.

        Raises:
            LogHeldError: another process still holds it; names the process.
        """
        if self.held:
            self._take(EventLog.open(self.path))
            self.held = ""

    def memory(self) -> Memory:
        """The memory, up to date with its file."""
        if not self.write or self.held:
            if len(log := self._memory.log):
                log.refresh()
                self.words.learn(log)
            else:
                self._take(EventLog.read(self.path))
        return self._memory

    def close(self) -> None:
        """Release the file for another writer."""
        self._memory.log.close()

    def fact(self, subject: str, predicate: str, object: Value, *, new: bool = False) -> Triple:
        """Read a fact as a triple; with ``new`` each of its words may be a new name.

        Raises:
            ParameterError: a name is unknown; or only a thing of the object's name is said of the subject.
        """
        words, log = self.words, self.memory().log
        node, relation = words.node(subject, new=new), words.predicate(predicate, new=new)
        fact = node, relation, words.value(object, new=new)
        if isinstance(object, str) and not new and not log.history(fact).changes:
            things = [thing for thing in words.things(object) if log.history((*fact[:2], thing)).changes]
            if things:
                raise ParameterError(f"no fact has the text {object[:80]!r}", hint=self.note_on(things))
        return fact

    def provenance(self, author: Text | None, source: Text | None = None) -> dict[str, Any]:
        """Read the author and the source of a record; an author's name has Unicode's normal form C."""
        author = normal(author) if isinstance(author, str) else author
        given = {"author": author, "source": source}
        return {name: self.words.value(text, new=True) for name, text in given.items() if text is not None}

    def note_on(self, things: list[Node]) -> str:
        """A note for a model that wrote a text where things have this name."""
        listed = ", ".join(str(self.words.shown(thing)) for thing in things[:MANY])
        return f"This is a text. The thing of this name is {listed}"

    def shown(self, ground: Ground) -> dict[str, Any]:
        """Show a record in words."""
        parts = {
            "record": str(ground.record),
            "tick": ground.tick,
            "says": self.words.fact_of(ground.said),
            "author": self.words.shown(ground.author, LONG_NAME),
            "source": self.words.shown(ground.source),
            "time": ground.time.isoformat() if ground.time else None,
            "lost": ground.lost,
            "deltas": list(ground.positions),
        }
        return {key: value for key, value in parts.items() if value is not None}

    def reply_to(self, record: Record) -> dict[str, Any]:
        """The reply to a writing call: the record, and the words that it makes new names."""
        new = self.words.learn(self._memory.log)
        return {"record": str(record.node), "tick": record.tick} | ({"new_names": new} if new else {})
