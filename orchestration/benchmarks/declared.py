"""The parts of a benchmark's declaration that know no case: its data, its section of `params.yaml`, its
official files, its table and its profiles.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, Literal, NamedTuple

import msgspec

from orchestration.code import Declared

# The profile of the work beyond the paper.
BEYOND = "beyond"
Natural = msgspec.Meta(ge=0, le=10**9)


class Data(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A profile's data of a source; each source adds sizes, and files that a user may name."""

    source: Literal["generated", "official", "real", "local", "none"] = "none"
    # The base address of a mirror that holds the official files under their names.
    mirror: str | None = None

    def among(self, profile: Any) -> Data:
        """Adapt these data to the whole profile, because a source may use files that another source names."""
        return self


class Section(NamedTuple):
    """A section of `params.yaml` that functions take: its key and type; without a key, no section.

    If the section has ``parts``, answers depend only on these keys of it.

    >>> Section().keys
    ()
    """

    key: str = ""
    type: type[Any] = NoneType
    parts: tuple[str, ...] = ()

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of `params.yaml` that it covers."""
        if self.parts:
            return tuple(f"{self.key}.{part}" for part in self.parts)
        return (self.key,) if self.key else ()

    def of(self, settings: Any) -> Any:
        """Return the section's parameters in some settings; ``None`` without a key."""
        return getattr(settings, self.key) if self.key else None


NO_SECTION = Section()


class Release(NamedTuple):
    """Official files; :mod:`orchestration.fetch.sources` has their addresses, if they have any.

    Attributes:
        split: the split that the paper reports.
        words: a description of the split.
    """

    split: str
    words: str


def belongs(own: Collection[str], profile: str) -> bool:
    """Tell whether a source, a benchmark or a study belongs to a profile.

    Args:
        own: its profiles; if it has none, it belongs to all but :data:`BEYOND`.

    >>> [belongs((), "sample"), belongs((), BEYOND), belongs((BEYOND, "local"), BEYOND)]
    [True, False, True]
    """
    return profile in own if own else profile != BEYOND


@dataclass(frozen=True, kw_only=True)
class Table(Declared):
    """A table of results, which several benchmarks may share.

    Attributes:
        name: the last part of its stage's name and of its files' names.
        title: its heading in the report.
        about: a description of its stage for the UI.
        layout: the name of its layout in :data:`orchestration.rendering.layouts.results.LAYOUTS`.
        needs: stages that it shows in addition to its benchmarks' scores.
        beyond: numbers of other benchmarks to show below its own.
        trivial: stages of a study whose rows are trivial methods' answers to the same questions.
        labels: the labels of its rows, by metric or by subset.
        note: the caption's remark on its rows.
        of_rivals: the caption's remark on the rival systems.
    """

    name: str
    title: str
    about: str
    layout: str
    needs: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    trivial: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    of_rivals: str = ""


class Wording(NamedTuple):
    """The text of a question, for the report.

    Attributes:
        question: its name in an answer's name.
        text: the question.
        choices: its choices, in order.
        subset: the subset of its row, if several subsets of a scene have questions of the same name.
    """

    question: str
    text: str
    choices: tuple[str, ...] = ()
    subset: str = ""
