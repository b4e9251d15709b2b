"""`substrate trace`: a number's path to its sources, as a tree for people and as JSON for programs.

The records come from :mod:`orchestration.lineage`; with `--json` they are printed as they are. For people, a
macro of ``trace.txt.j2`` writes them as an indented text, which :func:`outline` makes a tree that rich draws:
so all words of the command stand in the template, and none of them in code.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from orchestration.lineage.listing import Entry, Listing
from orchestration.lineage.number import NUMBERS, Lineage, Trace, require_number, trace_number
from orchestration.project import open_workspace
from orchestration.registry import BENCHMARKS
from orchestration.rendering.tables import drawn, wrapped
from orchestration.scoring.claims import claims
from orchestration.scoring.names import benchmarks_of
from orchestration.scoring.published import FILE
from orchestration.settings import flattened
from substrate.base.errors import ParameterError
from substrate.baselines.parameters import MODEL_URL
from substrate.cli.console import give
from substrate.cli.notices import ours
from substrate.cli.printing import print_json, print_text, shown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

    from orchestration.lineage.answer import AnswerTrace, Reexecution
    from orchestration.workspace.folders import Workspace


_WIDE = 2_000
# The widths of names and of places in a list, which then fits 110 columns.
_NAME, _PLACE = 37, 15


def print_trace(
    number: str, question: str | None, profile: str | None, *, reexecute: bool, json: bool
) -> bool:
    """Print the path of a number to its sources; return whether all of it is consistent.

    Raises:
        ParameterError: the number or answer does not exist, or was not computed.
    """
    if reexecute and question is None:
        hint = "Give --question SCENE/QUESTION"
        raise ParameterError("no answer is named", where=("--reexecute",), hint=hint)
    workspace = open_workspace(profile)
    if number in claims().claims:
        from orchestration.cli.claims import lines, named
        from orchestration.drift.claim_verdicts import verdicts_here

        claim = named(verdicts_here(workspace), number)
        give(claim, lines(claim), json=json)
        return True
    if number not in NUMBERS:
        listing = Listing(workspace)
        names = listing.find(number)
        if len(names) > 1 and question:
            hint = f"Name one of {', '.join(names)}"
            raise ParameterError(f"{number!r} means {len(names)} numbers", where=("--question",), hint=hint)
        if len(names) > 1:
            entries = [listing.entry(name) for name in names]
            give(entries, _table(entries), json=json)
            return True
        (number,) = names or [number]
        if names and number not in NUMBERS:
            return _print_derived(listing, number, json=json)
        require_number(number)
    return _print_measured(workspace, number, question, reexecute=reexecute, json=json)


def _print_measured(
    workspace: Workspace, number: str, question: str | None, *, reexecute: bool, json: bool
) -> bool:
    """Print the path of a number, and of one of its answers; return whether the files are consistent."""
    lineage = _lineage(workspace)
    way = trace_number(lineage, number)
    answer = again = None
    if question:
        from orchestration.lineage.answer import reexecute as computed
        from orchestration.lineage.answer import trace_answer

        answer = trace_answer(lineage, number, question)
        again = computed(workspace, answer) if reexecute else None
    if json:
        print_json({"trace": way, "answer": answer, "reexecution": again})
    else:
        _print(way, answer, again)
    fits = again is None or (again.same_row and again.same_log)
    return fits and not way.problems and (answer is None or answer.log_intact)


def print_list(profile: str | None, part: str, *, json: bool) -> None:
    """Print every number whose name or place has a part: the paper's figures, and the measurements here."""
    listing = Listing(open_workspace(profile)).entries()
    entries = [entry for entry in listing if part.lower() in f"{entry.name} {entry.where}".lower()]
    give(entries, _table(entries), json=json)


def _table(entries: Iterable[Entry]) -> list[str]:
    """Return the lines of a table of numbers."""
    rows = [
        (
            wrapped(entry.name.replace("/", "/ "), _NAME).replace("/ ", "/"),
            wrapped(entry.where, _PLACE),
            entry.paper or "",
            _measured_text(entry),
            "" if entry.n is None else f"{entry.n:,}",
            "" if entry.interval is None else "[{:.2f}, {:.2f}]".format(*entry.interval),
            entry.data,
        )
        for entry in entries
    ]
    heads = ("name", "where", "paper", "measured", "n", "interval", "data")
    return drawn(heads, rows, "simple", words=True).split("\n")


def _measured_text(entry: Entry) -> str:
    """Format the measured value as tables do; counts and p have no unit."""
    if entry.measured is None:
        return ""
    if entry.name.endswith("/p"):
        return f"{entry.measured:.2g}"
    whole = entry.interval is None and entry.measured.is_integer()
    return f"{entry.measured:,.0f}" if whole else f"{entry.measured:.2f}"


def _print_derived(listing: Listing, name: str, *, json: bool) -> bool:
    """Print the parts of a derived figure; return whether the files behind it are consistent."""
    entry, made = listing.entry(name), listing.made(name)
    numbers = [count.number for count in made.counts if count.number in NUMBERS]
    lineage = _lineage(listing.workspace) if numbers else None
    ways = [trace_number(lineage, number) for number in numbers] if lineage else []
    if json:
        print_json({"number": entry, "how": made.how, "counts": made.counts, "traces": ways})
    else:
        profile, figure = listing.workspace.settings.profile, listing.figures.get(name)
        sides = {side: listing.figures.get(side) for side in (figure.sides if figure else None) or ()}
        here = made.how if entry.measured is None else _measured_text(entry)
        console().print(outline("derived", entry, made, here, profile, sides, _going_on(name, profile)))
        for way in ways:
            _print(way)
    return not any(way.problems for way in ways)


def _going_on(number: str, profile: str) -> str:
    """Return the command that measures a number, and its needs if a language model answers."""
    of, *others = benchmarks_of(number)
    compared = any(other in BENCHMARKS and other != of for other in others)
    command = f"`substrate reproduce --profile {profile}{'' if compared else f' --only {of}'}` measures it"
    if not any(name in BENCHMARKS and BENCHMARKS[name].by_model for name in (of, *others)):
        return f"{command}, where the profile has its data (docs/how-to-bring-data.md)"
    return f"{command}, where {MODEL_URL} names a server (docs/how-to-compare-a-model.md)"


def _lineage(workspace: Workspace) -> Lineage:
    from orchestration.stages.graph import stages_in  # slow: it builds every stage

    return Lineage(workspace, known=stages_in(workspace))


def _print(way: Trace, answer: AnswerTrace | None = None, again: Reexecution | None = None) -> None:
    out, steps = console(), {step.stage: step for step in way.steps}
    cited = {who: text for cell in way.cells for who, text in cell.citations.items()}
    out.print(outline("way", way, steps, NUMBERS[way.number].name, _going_on(way.number, way.profile), cited))
    if answer:
        out.print(outline("answer", answer, again))
        print_text(answer.explanation)
    for problem in way.problems:
        out.print(f"[bold red]problem:[/] {escape(problem)}")


def escape(text: str) -> str:
    """Escape a text so that neither rich nor a terminal interprets it as markup or control codes."""
    from rich import markup

    return markup.escape(shown(text))


def console() -> Console:
    """Make a console for a terminal, or for a file without a width."""
    from rich.console import Console

    out = ours("stdout")
    # Rich would read parts of IRIs as emoji; and a file has no width to fit into.
    return Console(file=out, highlight=False, emoji=False, width=None if out.isatty() else _WIDE)


def outline(name: str, *about: Any) -> Tree:
    """Make a tree from the lines of a macro in ``trace.txt.j2``; two spaces of indent mean one level."""
    from rich.tree import Tree

    from orchestration.base.templates import text_template

    template = text_template(
        __file__,
        "trace.txt.j2",
        e=lambda text: escape(text).replace("\n", "\0"),  # a newline inside a text must not end a node
        flattened=flattened,
        json=lambda value: msgspec.json.encode(value).decode(),
    )
    macros: Any = template.make_module({"FILE": FILE})
    branches: list[Tree] = []
    for line in filter(str.strip, getattr(macros, name)(*about).split("\n")):
        text = line.lstrip(" ").replace("\0", "\n")
        del branches[(len(line) - len(line.lstrip(" "))) // 2 :]
        branches.append(branches[-1].add(text) if branches else Tree(text))
    return branches[0]
