"""`substrate log`: the auditor's tools over one event log.

Terms are written as in N-Triples (`<urn:v:ann>`, `"text"@en`, `_:b`, `<<( … )>>`); an IRI may go without its
brackets, and a prefixed name is expanded with `--prefix` or the prefixes of `--tbox`.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import pyoxigraph as ox
import typer

from substrate.errors import InterventionError, LogError, ParameterError, SubstrateError
from substrate.guard import QueryLimits, Solutions, confined
from substrate.guard import query as guarded
from substrate.log import Delta, EventLog, TornTailWarning
from substrate.reading import LIMITS
from substrate.tokens import require_shallow

if TYPE_CHECKING:
    from substrate.tbox import TBox
    from substrate.tellings import Learning

log_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="The auditor's tools over one event log."
)

FileArgument = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="An event log: RDF Patch text, gzip where the name ends in .gz."),
]
TickOption = Annotated[
    int | None, typer.Option("--tick", metavar="T", help="The tick; the log's last one unless given.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
PrefixOption = Annotated[
    list[str],
    typer.Option("--prefix", metavar="NAME=IRI", help="A prefix for terms and queries; may be repeated."),
]
TBoxOption = Annotated[
    str | None,
    typer.Option("--tbox", metavar="TBOX", help="A shipped TBox or a Turtle file: its prefixes hold."),
]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", min=0.01, help="Seconds after which it is ended.")
]
RowsOption = Annotated[int, typer.Option("--limit", metavar="ROWS", min=0, help="Most rows of an answer.")]
MemoryOption = Annotated[
    int, typer.Option("--memory", metavar="MIB", min=1, help="Most memory that it may take, in MiB.")
]
NO_PREFIXES: list[str] = []
DEFAULTS = QueryLimits()


class Format(StrEnum):
    """What a log can be exported to."""

    patch = "patch"
    nquads = "nquads"
    turtle = "turtle"
    ldes = "ldes"


@log_app.command()
def show(
    file: FileArgument,
    start: Annotated[int, typer.Option("--from", metavar="T", help="First tick to show.")] = 0,
    stop: Annotated[int | None, typer.Option("--to", metavar="T", help="Last tick to show.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=0, help="Most deltas to show.")] = None,
    json: JsonOption = False,
) -> None:
    """What the log is, and its deltas: position, tick, operation, triple."""
    with _failing():
        log = _read(file)
        end = log.position(log.last_tick if stop is None else stop)
        first = log.position(start - 1)
        positions = range(first, end if limit is None else min(end, first + limit))
        about = {
            "file": str(file),
            "digest": log.digest,
            "deltas": len(log),
            "ticks": len(log.ticks),
            "last_tick": log.last_tick,
            "parent": log.parent_digest,
            "branch_tick": log.branch_tick,
            "dropped_bytes": log.torn.dropped if log.torn else 0,
        }
    if json:
        _print_json(about | {"shown": [_placed(log, p) for p in positions]})
    else:
        _print(f"{name}: {value}" for name, value in about.items() if value is not None)
        _print(_line(log, p) for p in positions)


@log_app.command()
def state(
    file: FileArgument,
    tick: TickOption = None,
    canonical: Annotated[bool, typer.Option("--canonical", help="Relabel blank nodes by RDFC-1.0.")] = False,
    json: JsonOption = False,
) -> None:
    """The triples that hold at a tick, as sorted N-Quads."""
    with _failing():
        found = _read(file).state(tick)
        text = found.canonical() if canonical else found.nquads()
        if json:
            _print_json(
                {
                    "tick": found.tick,
                    "triples": len(found),
                    "digest": found.digest,
                    "state": text.splitlines(),
                }
            )
        else:
            sys.stdout.write(text)


@log_app.command()
def query(
    file: FileArgument,
    sparql: Annotated[
        str, typer.Argument(help="A SELECT, ASK, CONSTRUCT or DESCRIBE query; @FILE reads it from a file.")
    ],
    tick: TickOption = None,
    prefix: PrefixOption = NO_PREFIXES,
    tbox: TBoxOption = None,
    timeout: TimeoutOption = DEFAULTS.timeout,
    limit: RowsOption = DEFAULTS.rows,
    memory: MemoryOption = DEFAULTS.memory >> 20,
    json: JsonOption = False,
) -> None:
    """Run a SPARQL query on the state at a tick; rows in the order of their text unless the query orders
    them. It reads the state alone, and ends within its limits.
    """
    with _failing():
        text = _text_of(Path(sparql[1:])) if sparql.startswith("@") else sparql
        limits = QueryLimits(timeout, limit, memory << 20)
        found = guarded(_read(file).state(tick), text, prefixes=_prefixes(prefix, tbox), limits=limits)
        if isinstance(found, bool):
            _print_json({"head": {}, "boolean": found}) if json else _print(["true" if found else "false"])
        elif isinstance(found, Solutions):
            _print_rows(found, "order by" in text.lower(), json)
        else:
            lines = sorted(f"{triple} ." for triple in found)
            _print_json(lines) if json else _print(lines)


@log_app.command()
def history(
    file: FileArgument,
    subject: Annotated[str, typer.Argument(help="A term, or - for any.")] = "-",
    predicate: Annotated[str, typer.Argument(help="A term, or - for any.")] = "-",
    object_: Annotated[str, typer.Argument(metavar="OBJECT", help="A term, or - for any.")] = "-",
    prefix: PrefixOption = NO_PREFIXES,
    tbox: TBoxOption = None,
    json: JsonOption = False,
) -> None:
    """When triples were true, and which deltas changed that."""
    from substrate.history import histories

    with _failing():
        names = _prefixes(prefix, tbox)
        found = histories(
            _read(file),
            *(None if text in ("-", "?") else _term(text, names) for text in (subject, predicate, object_)),
        )
    if json:
        changes = [[_delta(c.delta) | {"position": c.position} for c in h.changes] for h in found]
        _print_json(
            [
                {"triple": _text(h.triple), "intervals": [tuple(i) for i in h.intervals], "changes": c}
                for h, c in zip(found, changes, strict=True)
            ]
        )
        return
    for h in found:
        spans = ", ".join(
            f"tick {i.start} on" if i.end is None else f"ticks {i.start} to {i.end - 1}" for i in h.intervals
        )
        _print(
            [
                f"{_text(h.triple)}: {spans or 'at no tick'}",
                *(
                    f"    tick {c.delta.tick:>5}  {c.delta.op.name.lower():<7}  delta {c.position}"
                    for c in h.changes
                ),
            ]
        )


@log_app.command()
def fork(
    file: FileArgument,
    at: Annotated[int, typer.Option("--at", metavar="T", help="The branch tick.")],
    out: Annotated[Path, typer.Option("--out", metavar="BRANCH", help="Where to write the branch.")],
    assert_: Annotated[
        tuple[str, str, str] | None, typer.Option("--assert", metavar="S P O", help="Make a triple true.")
    ] = None,
    retract: Annotated[
        tuple[str, str, str] | None, typer.Option("--retract", metavar="S P O", help="Make a triple false.")
    ] = None,
    override_location: Annotated[
        tuple[str, str] | None,
        typer.Option("--override-location", metavar="ENTITY PLACE", help="Put an entity elsewhere."),
    ] = None,
    assert_awareness: Annotated[
        tuple[str, str] | None,
        typer.Option("--assert-awareness", metavar="AGENT FACT", help="Let an agent know a fact."),
    ] = None,
    retract_awareness: Annotated[
        tuple[str, str] | None,
        typer.Option("--retract-awareness", metavar="AGENT FACT", help="Let an agent not know a fact."),
    ] = None,
    predicate: Annotated[
        str | None,
        typer.Option(
            "--predicate",
            metavar="P",
            help="The property of place or awareness; the core's own unless given.",
        ),
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(
            "--rules",
            metavar="TBOX",
            help="Let this TBox's rules decide what follows; without it the observed deltas follow.",
        ),
    ] = None,
    motion: Annotated[
        bool,
        typer.Option(
            "--motion", help="Let CLEVRER's simulator decide what follows, in the log of an annotation."
        ),
    ] = False,
    until: Annotated[
        int | None, typer.Option("--until", metavar="T", help="Last tick for the rules or the simulator.")
    ] = None,
    prefix: PrefixOption = NO_PREFIXES,
    tbox: TBoxOption = None,
    timeout: TimeoutOption = DEFAULTS.timeout,
    memory: MemoryOption = DEFAULTS.memory >> 20,
    json: JsonOption = False,
) -> None:
    """The log that would be, had one thing been otherwise; FILE is left alone. The rules of a TBox end within
    the limits of a query.
    """
    from orchestration.cli.log_domains import fork_by_rules
    from substrate.fork import fork as branch_off
    from substrate.interventions import Assert, AssertAwareness, OverrideLocation, Retract, RetractAwareness
    from substrate.tbox import TBox

    with _failing():
        names = _prefixes(prefix, tbox or rules)
        given = {
            Assert: assert_,
            Retract: retract,
            OverrideLocation: override_location,
            AssertAwareness: assert_awareness,
            RetractAwareness: retract_awareness,
        }
        chosen = [(make, [_term(text, names) for text in terms]) for make, terms in given.items() if terms]
        if len(chosen) > 1:
            raise InterventionError(
                "more than one intervention", hint="Give one, and fork the branch again for the next"
            )
        extra: Any = {"predicate": _term(predicate, names)} if predicate else {}
        intervention = next(
            (make(*terms, **extra) if len(terms) == 2 else make(tuple(terms)) for make, terms in chosen), None
        )  # pyright: ignore
        log = _read(file)
        if rules and motion:
            raise typer.BadParameter("give --rules or --motion")
        if rules:
            box = TBox.load(rules)
            _warn(box)
            limits = QueryLimits(timeout, memory=memory << 20)
            patch = confined(
                fork_by_rules, log.to_patch(), at, intervention, (box.name, box.turtle), until, limits=limits
            )
            branch = EventLog.from_patch(patch, str(out))
        elif motion:
            from substrate.domains.clevrer.emitter import MotionEmitter

            branch = branch_off(log, at, intervention, MotionEmitter(until))
        else:
            branch = branch_off(log, at, intervention)
        branch.save(out)
    about = {
        "out": str(out),
        "digest": branch.digest,
        "deltas": len(branch),
        "parent": branch.parent_digest,
        "branch_tick": branch.branch_tick,
    }
    _print_json(about) if json else _print(f"{name}: {value}" for name, value in about.items())


@log_app.command()
def diff(
    file: FileArgument,
    a: Annotated[int | None, typer.Argument(metavar="[A]", help="A tick.")] = None,
    b: Annotated[int | None, typer.Argument(metavar="[B]", help="Another tick.")] = None,
    with_: Annotated[
        Path | None,
        typer.Option("--with", metavar="OTHER", help="Another log: both arms side by side, tick by tick."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """What differs between two ticks of a log, or between two logs; exit 1 where anything does."""
    with _failing():
        if (a is None) != (b is None) or (a is None) == (with_ is None):
            raise typer.BadParameter("give two ticks, or --with OTHER")
        different = (
            _diff_logs(_read(file), _read(with_), json)
            if with_
            else _diff_ticks(_read(file), a or 0, b or 0, json)
        )
    raise typer.Exit(1 if different else 0)


def _diff_ticks(log: EventLog, a: int, b: int, json: bool) -> bool:
    found = log.diff(a, b)
    if json:
        _print_json({"a": a, "b": b, **_difference(found)})
    else:
        _print([*(f"- {_text(t)}" for t in found.retracted), *(f"+ {_text(t)}" for t in found.inserted)])
    return bool(found)


def _diff_logs(a: EventLog, b: EventLog, json: bool) -> bool:
    from substrate.fork import twin

    ticks = list(twin(a, b))
    if json:
        _print_json(
            [
                {
                    "tick": t.tick,
                    "a": [_delta(d) for d in t.a],
                    "b": [_delta(d) for d in t.b],
                    **_difference(t.difference),
                }
                for t in ticks
            ]
        )
    else:
        for t in ticks:
            _print(
                [
                    f"tick {t.tick}: {len(t.a)} and {len(t.b)} deltas; "
                    f"after it {len(t.difference.retracted)} triples stand in A only, "
                    f"{len(t.difference.inserted)} in B only"
                ]
            )
            _print(
                [
                    *(f"  A {d.op.value} {_text(d.triple)}" for d in t.a if d not in t.b),
                    *(f"  B {d.op.value} {_text(d.triple)}" for d in t.b if d not in t.a),
                ]
            )
    return a.digest != b.digest


@log_app.command()
def verify(
    file: FileArgument,
    digest: Annotated[
        str | None, typer.Option("--digest", metavar="SHA256", help="The digest that the log should have.")
    ] = None,
    parent: Annotated[
        Path | None,
        typer.Option("--parent", metavar="FILE", help="The log that this one says it was forked from."),
    ] = None,
    tbox: Annotated[
        str | None,
        typer.Option("--tbox", metavar="TBOX", help="Check the last state against this TBox's shapes."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Recompute the chain, and compare; exit 1 where a byte was edited, an append was cut off, or anything
    asked for does not hold.
    """
    from substrate.tbox import TBox

    with _failing():
        log = _read(file)
        faults = (
            [f"the last append was cut off: {log.torn.dropped} bytes after tick {log.last_tick}"]
            if log.torn
            else []
        )
        if digest and digest.removeprefix("sha256:") != log.digest.removeprefix("sha256:"):
            faults.append(f"the digest is {log.digest}")
        if parent:
            faults += _not_forked(log, _read(parent), parent)
        if tbox:
            box = TBox.load(tbox)
            _warn(box)
            faults += map(str, box.validate(log.state(), log))
    if json:
        _print_json(
            {
                "file": str(file),
                "digest": log.digest,
                "deltas": len(log),
                "last_tick": log.last_tick,
                "faults": faults,
            }
        )
    else:
        _print(
            faults or [f"{file}: {len(log)} deltas to tick {log.last_tick}, the chain holds: {log.digest}"]
        )
    raise typer.Exit(1 if faults else 0)


def _not_forked(log: EventLog, parent: EventLog, path: Path) -> list[str]:
    if log.descent is None:
        return ["it is no fork"]
    if log.descent.parent != parent.digest:
        return [f"its parent is {log.descent.parent}, not {path}"]
    before = log.descent.branch - 1
    return (
        []
        if log.digest_at(before) == parent.digest_at(before)
        else [f"it differs from its parent before tick {log.descent.branch}"]
    )


@log_app.command()
def export(
    file: FileArgument,
    format_: Annotated[
        Format,
        typer.Option(
            "--format", help="patch and ldes: the whole log; nquads and turtle: the state at a tick."
        ),
    ] = Format.patch,
    tick: TickOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="OUT", help="A file instead of standard output.")
    ] = None,
    prefix: PrefixOption = NO_PREFIXES,
    tbox: TBoxOption = None,
) -> None:
    """The log as RDF Patch or an event stream (LDES), or a state as N-Quads or Turtle."""
    from substrate.export import members, to_turtle
    from substrate.journal import write_atomically

    with _failing():
        log = _read(file)
        texts = {
            Format.patch: lambda: log.to_patch(),
            Format.nquads: lambda: log.state(tick).nquads(),
            Format.turtle: lambda: to_turtle(log.state(tick), _prefixes(prefix, tbox)),
            Format.ldes: lambda: "".join(f"{line}\n" for line in members(log)),
        }
        text = texts[format_]()
        if out:
            write_atomically(out, text)
        else:
            sys.stdout.write(text)


@log_app.command("import")
def import_(
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="[DOMAIN] SOURCE",
            help="RDF Patch, N-Quads, Turtle, or an event stream; "
            "behind a domain's name, a file of that domain.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The event log to write.")],
    format_: Annotated[
        Format, typer.Option("--format", help="What SOURCE is, where no domain is named.")
    ] = Format.patch,
    tick: Annotated[
        int,
        typer.Option(
            "--tick", metavar="T", min=0, help="For nquads and turtle: where the triples are inserted."
        ),
    ] = 0,
    fact: Annotated[
        list[str] | None,
        typer.Option(
            "--fact",
            metavar="ID=REGEX",
            help="smallville: a fact, and which utterances mention it; may be repeated.",
        ),
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option("--label", metavar="ID=TEXT", help="smallville: a fact in words.")
    ] = None,
    knower: Annotated[
        list[str] | None,
        typer.Option(
            "--knower",
            metavar="ID=NAME",
            help="smallville: who knows a fact from the start; may be repeated.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """An event log from RDF Patch of any program, from a state, from an event stream, or from a domain's own
    file.
    """
    from orchestration.cli.log_domains import import_domain
    from substrate.export import from_members, from_state

    with _failing():
        *domain, name = source
        if len(domain) > 1 or (not domain and (fact or label or knower)):
            raise typer.BadParameter("give SOURCE, or a domain and its SOURCE")
        path = Path(name)
        readers = {
            Format.patch: lambda text: EventLog.from_patch(text, name),
            Format.nquads: lambda text: from_state(text, "nquads", tick, name),
            Format.turtle: lambda text: from_state(text, "turtle", tick, name),
            Format.ldes: lambda text: from_members(text, name),
        }
        log = (
            import_domain(domain[0], path, fact or (), label or (), knower or ())
            if domain
            else readers[format_](_text_of(path))
        )
        log.save(out)
    about = {"out": str(out), "digest": log.digest, "deltas": len(log), "last_tick": log.last_tick}
    _print_json(about) if json else _print(f"{name}: {value}" for name, value in about.items())


@log_app.command()
def ask(
    file: FileArgument,
    template: Annotated[
        str,
        typer.Argument(
            metavar="QUESTION", help="happened, when, who_knew, learned_from, where or without_knowing."
        ),
    ],
    tbox: Annotated[
        str,
        typer.Option("--tbox", metavar="TBOX", help="A shipped TBox or a Turtle file: what the words mean."),
    ],
    fact: Annotated[str | None, typer.Option("--fact", metavar="TERM", help="What is known.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", metavar="TERM", help="Who forgets it.")] = None,
    entity: Annotated[str | None, typer.Option("--entity", metavar="TERM", help="What is somewhere.")] = None,
    kind: Annotated[str | None, typer.Option("--kind", metavar="TERM", help="The class of an event.")] = None,
    participant: Annotated[
        list[str] | None,
        typer.Option("--participant", metavar="TERM", help="Who took part in it; once for each."),
    ] = None,
    tick: TickOption = None,
    prefix: PrefixOption = NO_PREFIXES,
    timeout: TimeoutOption = DEFAULTS.timeout,
    memory: MemoryOption = DEFAULTS.memory >> 20,
    json: JsonOption = False,
) -> None:
    """Ask a question that any domain can be asked; with the deltas behind the answer, and who knew from whom.
    The rules of the TBox end within the limits of a query.
    """
    from orchestration.cli.log_domains import put_question
    from substrate.tbox import TBox
    from substrate.tellings import in_words

    with _failing():
        log, box, names = _read(file), TBox.load(tbox), _prefixes(prefix, tbox)
        terms = {"fact": fact, "agent": agent, "entity": entity, "kind": kind}
        about: dict[str, Any] = {name: _term(text, names) for name, text in terms.items() if text}
        if participant:
            about["participants"] = [_term(text, names) for text in participant]
        _warn(box)
        limits = QueryLimits(timeout, memory=memory << 20)
        answer, known = confined(
            put_question, (box.name, box.turtle), log.to_patch(), template, about, tick, limits=limits
        )
    box = box.naming(log)
    if json:
        links = [[_link(log, box, link) for link in chain] for chain in known]
        _print_json(
            answer._asdict()
            | {
                "evidence": [_placed(log, p) for p in answer.evidence],
                "knowers": [chain[0] | {"chain": chain[1:]} for chain in links],
            }
        )
        return
    _print([answer.question, answer.answer])
    for chain in known:
        _print(["", in_words(box, chain), *(_line(log, p) for p in chain[0].evidence)])
    if not known:
        _print(_line(log, p) for p in answer.evidence)


@contextmanager
def _failing() -> Iterator[None]:
    """Turn the project's own errors, and a system that refuses, into a message and exit code 1."""
    try:
        yield
    except SubstrateError as error:
        sys.stderr.write(f"error: {error}\n")
        raise typer.Exit(1) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        place = error.filename or "standard output"
        sys.stderr.write(f"error: {place}: {error.strerror or error}. Nothing was written there.\n")
        raise typer.Exit(1) from None


def _read(path: Path) -> EventLog:
    """The log of a file, or of a name such as ``clevrer/10000`` in the project's profile."""
    if not path.exists() and "/" in str(path) and not path.is_absolute():
        return _named(str(path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TornTailWarning)
        log = EventLog.read(path)
    if log.torn:
        sys.stderr.write(
            f"warning: {path}: the last append was cut off; {log.torn.dropped} bytes after tick "
            f"{log.last_tick} are left out\n"
        )
    return log


def _named(name: str) -> EventLog:
    from orchestration.project import open_workspace

    benchmark, _, log = name.partition("/")
    return open_workspace().logs(benchmark).read(log)


def _warn(box: TBox) -> None:
    """Say what in a TBox is likely not meant, on standard error."""
    from substrate.lint import lint

    for finding in lint(box):
        sys.stderr.write(f"warning: {box.name}: {finding}\n")


def _text_of(path: Path) -> str:
    try:
        if path.stat().st_size > LIMITS.bytes:
            raise LogError(
                f"has more than {LIMITS.bytes} bytes", where=(path,), hint="Raise bytes in SUBSTRATE_LIMITS"
            )
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LogError(
            f"cannot be read ({error})", where=(path,), hint="Check the path and the encoding"
        ) from error


def _prefixes(given: Iterable[str], tbox: str | None) -> dict[str, str]:
    from substrate.tbox import TBox

    names = dict(TBox.load(tbox).prefixes) if tbox else {}
    for text in given:
        name, equals, iri = text.partition("=")
        if not equals:
            raise ParameterError(f"not a prefix: {text!r}", hint="Write NAME=IRI")
        names[name] = iri
    return names


def _term(text: str, prefixes: dict[str, str]) -> Any:
    name, _, rest = text.partition(":")
    if not text.startswith(("<", '"', "_:")):
        text = f"<{prefixes[name]}{rest}>" if name in prefixes else f"<{text}>"
    require_shallow(text, ParameterError, text[:40])
    try:
        (quad,) = ox.parse(f"<urn:s> <urn:p> {text} .", ox.RdfFormat.N_TRIPLES)
    except (SyntaxError, ValueError) as error:  # a lone surrogate is a ValueError
        raise ParameterError(
            f"not a term: {text!a} ({error})",
            hint="Write an IRI, a literal, a blank node or a triple term as in N-Triples",
        ) from error
    return quad.object


def _print_rows(found: Solutions, ordered: bool, json: bool) -> None:
    names, rows = found.variables, [*found.rows]
    if not ordered:
        rows.sort(key=lambda row: [str(term or "") for term in row])
    if json:
        _print_json(
            {
                "head": {"vars": names},
                "results": {
                    "bindings": [
                        {n: _binding(t) for n, t in zip(names, row, strict=True) if t is not None}
                        for row in rows
                    ]
                },
            }
        )
    else:
        _print(
            [
                "\t".join(f"?{name}" for name in names),
                *("\t".join(str(term) if term is not None else "" for term in row) for row in rows),
            ]
        )


def _binding(term: Any) -> dict[str, object]:
    """A term in SPARQL 1.2 Query Results JSON."""
    if isinstance(term, ox.Triple):
        return {
            "type": "triple",
            "value": {part: _binding(getattr(term, part)) for part in ("subject", "predicate", "object")},
        }
    if not isinstance(term, ox.Literal):
        return {"type": "uri" if isinstance(term, ox.NamedNode) else "bnode", "value": term.value}
    found: dict[str, object] = {"type": "literal", "value": term.value}
    if term.language:
        found |= {"xml:lang": term.language} | ({"its:dir": term.direction.value} if term.direction else {})
    elif not term.datatype.value.endswith("#string"):
        found["datatype"] = term.datatype.value
    return found


def _difference(found: Any) -> dict[str, list[str]]:
    return {"retracted": [_text(t) for t in found.retracted], "inserted": [_text(t) for t in found.inserted]}


def _delta(delta: Delta) -> dict[str, object]:
    return {"tick": delta.tick, "op": delta.op.name.lower(), "triple": _text(delta.triple)}


def _link(log: EventLog, box: TBox, link: Learning) -> dict[str, object]:
    source, telling = (str(term) if term is not None else None for term in (link.source, link.telling))
    deltas = [_placed(log, position) for position in link.evidence]
    return {
        "who": str(link.knower),
        "name": box.label(link.knower),
        "tick": link.tick,
        "from": source,
        "telling": telling,
        "deltas": deltas,
    }


def _placed(log: EventLog, position: int) -> dict[str, object]:
    return _delta(log[position]) | {"position": position}


def _line(log: EventLog, position: int) -> str:
    delta = log[position]
    return f"{position:>7}  tick {delta.tick:>5}  {delta.op.name.lower():<7}  {_text(delta.triple)}"


def _text(triple: Any) -> str:
    return str(ox.Triple(*triple))


def _print(lines: Iterable[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def _print_json(value: object) -> None:
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
