"""`substrate trace`: a number's way to its sources, as a tree for a person and as JSON for a machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from orchestration.lineage.listing import Constant, Entry, Hit, Listing, Made
from orchestration.lineage.number import File, Lineage, Step, Trace, benchmark_of, trace_number
from orchestration.project import open_workspace
from orchestration.registry import BENCHMARKS
from orchestration.scoring.published import FILE, MINUS
from orchestration.settings import flattened
from substrate.base.errors import ParameterError
from substrate.cli.printing import print_json, print_text, shown

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree

    from orchestration.lineage.answer import AnswerTrace
    from orchestration.lineage.reexecution import Reexecution
    from orchestration.workspace.folders import Workspace


_HITS = {
    "name": "",
    "cell": "a row or cell of a table",
    "printed": "printed in the paper",
    "measured": "measured here",
    "rounded": "measured here, by rounding",
}
_WIDE = 2_000


def print_trace(
    number: str, question: str | None, profile: str | None, *, reexecute: bool, prov: Path | None, json: bool
) -> bool:
    """Trace a number and print the way; says whether all of it fits together.

    Raises:
        ParameterError: there is no such number or answer, or it was not computed.
    """
    if reexecute and question is None:
        hint = "Give --question SCENE/QUESTION"
        raise ParameterError("no answer is named", where=("--reexecute",), hint=hint)
    workspace = open_workspace(profile)
    listing = Listing(workspace)
    hits, constants = listing.find(number), listing.constants(number)
    found = [hit.name for hit in hits]
    if len(found) > 1 or constants or any(hit.how == "rounded" for hit in hits):
        if question:
            hint = f"Name one of {', '.join(found)}"
            raise ParameterError(f"{number!r} means {len(found)} numbers", where=("--question",), hint=hint)
        _print_hits(listing, hits, constants, json=json)
        return True
    (number,) = found or [number]
    if found and number not in listing.numbers:
        return _print_derived(listing, number, json=json)
    lineage = _lineage(workspace)
    way = trace_number(lineage, number)
    answer = again = None
    if question:
        from orchestration.lineage.answer import trace_answer
        from orchestration.lineage.reexecution import reexecute as computed

        answer = trace_answer(lineage, number, question)
        again = computed(workspace, answer) if reexecute else None
    if prov:
        from orchestration.lineage.prov import write_prov

        write_prov(lineage, [way], prov, answer)
    if json:
        print_json({"trace": way, "answer": answer, "reexecution": again})
    else:
        _print(way, answer, again)
    fits = again is None or (again.same_row and again.same_log)
    return fits and not way.problems and (answer is None or answer.log_intact)


def print_list(profile: str | None, *, json: bool) -> None:
    """Print every number: what the paper prints of it, and what was measured here."""
    entries = Listing(open_workspace(profile)).entries()
    if json:
        print_json(entries)
        return
    rows = [
        (
            entry.name,
            entry.where,
            entry.paper or "",
            _shown(entry),
            "" if entry.n is None else f"{entry.n:,}",
            "" if entry.interval is None else "[{:.2f}, {:.2f}]".format(*entry.interval),
            entry.data,
        )
        for entry in entries
    ]
    _print_table(("name", "where", "paper", "measured", "n", "interval", "data"), rows)


def _print_hits(listing: Listing, hits: Sequence[Hit], constants: Sequence[Constant], *, json: bool) -> None:
    """Print what a figure may be: the paper's constants, and numbers with how the figure hits each."""
    found = [(listing.entry(hit.name), hit.how) for hit in hits]
    if json:
        records = [msgspec.to_builtins(entry) | {"hit": how} for entry, how in found]
        records += [
            {"name": None, "where": where, "what": what, "hit": "constant"} for where, what in constants
        ]
        print_json(records)
        return
    for one in constants:
        print_text(f"a constant of the paper, in {one.passage!r}: {one.what}\n")
    if found:
        rows = [(entry.name, entry.paper or "", _shown(entry), _HITS[how]) for entry, how in found]
        _print_table(("name", "paper", "measured", "the figure is"), rows)


def _print_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table in Markdown; the library that writes the report's takes a tenth of this command."""
    widths = [max(len(head) + 2, *map(len, cells)) for head, *cells in zip(heads, *rows, strict=True)]
    rule = ["-" * width for width in widths]
    for row, fill in ((heads, " "), (rule, "-"), *((row, " ") for row in rows)):
        cells = (f"{fill}{cell.ljust(width)}{fill}" for cell, width in zip(row, widths, strict=True))
        print_text(f"|{'|'.join(cells)}|\n")


def _shown(entry: Entry) -> str:
    """The measured value, as tables print it; counts and p as they are."""
    if entry.measured is None:
        return ""
    if entry.name.endswith("/p"):
        return f"{entry.measured:.2g}"
    whole = entry.interval is None and entry.measured.is_integer()
    return f"{entry.measured:,.0f}" if whole else f"{entry.measured:.2f}"


def _print_derived(listing: Listing, name: str, *, json: bool) -> bool:
    """Print a figure that is no count of right answers: what it is made of, down to the counts; says whether
    their files fit together.
    """
    entry, made = listing.entry(name), listing.made(name)
    numbers = [count.number for count in made.counts if count.number in listing.numbers]
    lineage = _lineage(listing.workspace) if numbers else None
    ways = [trace_number(lineage, number) for number in numbers] if lineage else []
    if json:
        print_json({"number": entry, "how": made.how, "counts": made.counts, "traces": ways})
    else:
        console().print(_derived_tree(listing, entry, made))
        for way in ways:
            _print(way)
    return not any(way.problems for way in ways)


def _derived_tree(listing: Listing, entry: Entry, made: Made) -> Tree:
    from rich.tree import Tree

    here, profile = made.how if entry.measured is None else _shown(entry), listing.workspace.settings.profile
    tree = Tree(f"[bold]{escape(entry.name)}[/] {escape(here)} (profile {profile})")
    if entry.paper is not None:
        branch = tree.add(f"[bold]paper[/] {entry.paper}: {escape(entry.where)}")
        branch.add(escape(f"{FILE}: {entry.citation}"))
        for side in listing.figures[entry.name].sides or ():
            figure = listing.figures.get(side)
            branch.add(escape(f"{side} {figure.printed if figure else 'not printed'}"))
    if entry.measured is None and not made.counts:
        tree.add(escape(_going_on(entry.name, profile)))
    if made.counts:
        branch = tree.add(f"[bold]made of[/] {escape(made.how)}")
        for count in made.counts:
            branch.add(escape(f"{count.number}: {count.correct:,} of {count.n:,} ({count.file})"))
    return tree


def _going_on(number: str, profile: str) -> str:
    """The command that measures a number, and what it needs where a language model answers."""
    of, _, other = (part.partition("/")[0] for part in number.partition(f"/{MINUS}"))
    compared = other in BENCHMARKS and other != of
    command = f"`substrate reproduce --profile {profile}{'' if compared else f' --only {of}'}` measures it"
    if not any(name in BENCHMARKS and BENCHMARKS[name].by_model for name in (of, other)):
        return f"{command}, where the profile has its data (docs/how-to-bring-data.md)"
    return f"{command}, where SUBSTRATE_MODEL_URL names a server (docs/how-to-compare-a-model.md)"


def _lineage(workspace: Workspace) -> Lineage:
    from orchestration.pipeline.graph import STAGES  # with it comes Dagster, which a list can do without

    return Lineage(workspace, known=STAGES)


def _print(way: Trace, answer: AnswerTrace | None = None, again: Reexecution | None = None) -> None:
    out = console()
    out.print(_tree(way))
    if answer:
        out.print(_answer_tree(answer, again))
        print_text(answer.explanation)
    for problem in way.problems:
        out.print(f"[bold red]problem:[/] {escape(problem)}")


def escape(text: str) -> str:
    """A text that neither rich nor a terminal takes for an order."""
    from rich import markup

    return markup.escape(shown(text))


def console() -> Console:
    """A terminal, or a file without a width."""
    from rich.console import Console

    # IRIs have parts that rich takes for emoji; and a file has no width to fit into.
    return Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else _WIDE)


def _tree(way: Trace) -> Tree:
    """Top down: cells, score, rows, logs, sources; the stage that made each beneath it."""
    from rich.tree import Tree

    score, rows, steps = way.score, way.rows, {step.stage: step for step in way.steps}
    accuracy = "not measured" if score.accuracy is None else f"{score.correct / score.n:.2%}"
    tree = Tree(f"[bold]{escape(way.number)}[/] {accuracy} (profile {way.profile})")
    if score.accuracy is None:
        tree.add(escape(_going_on(way.number, way.profile)))
    _add_cells(tree, way)
    node = _add(tree, "score", way.score_file, f"{score.correct:,} of {score.n:,}")
    _add_step(node, steps[way.score_file.stage])
    if rows:
        what = "questions" if rows.n == rows.counted else "parts"
        right = f"{rows.correct:,} {what} right, {rows.n - rows.correct:,} not"
        node = _add(node, "rows", rows.file, f"{rows.rows:,} rows, {rows.counted:,} count: {right}")
        if rows.wrong:
            more = " …" if rows.n - rows.correct > len(rows.wrong) else ""
            named = [f"{benchmark_of(way.number)}/{name}" for name in rows.wrong]
            node.add(f"not right: {escape(', '.join(named))}{more}")
        _add_step(node, steps[rows.file.stage])
    for logs in way.logs:
        said = f"{logs.used:,} of {logs.logs:,} logs are behind these rows"
        node = _add(node, "logs", logs.file, said)
        _add_step(node, steps[logs.file.stage])
    for source in way.sources:
        worlds = " and ".join(f"substrate/generators/{world}" for world in source.worlds)
        data = _add(node, "input", source.file, f"generated by {worlds}" if worlds else escape(source.kind))
        for official in source.official:
            data.add(escape(", ".join(f"{key} {value}" for key, value in official.items())))
        _add_step(data, steps[source.file.stage])
    locks = way.environment
    code = f"code {locks.commit or 'without a commit'}, requirements.lock {_short(locks.requirements_lock)}"
    tree.add(escape(f"{code}, dvc.lock {_short(locks.dvc_lock)}"))
    return tree


def _add(branch: Tree, what: str, file: File, said: str) -> Tree:
    return branch.add(f"[bold]{what}[/] {escape(file.path)} [dim]{_short(file.sha256)}[/]: {said}")


def _add_cells(tree: Tree, way: Trace) -> None:
    by_table: dict[str, Tree] = {}
    for cell in way.cells:
        if cell.file not in by_table:
            by_table[cell.file] = tree.add(f"[bold]cells[/] {escape(cell.file)}, row “{escape(cell.row)}”")
        cited = f"  [dim]({FILE}: {escape('; '.join(cell.citations.values()))})[/]" if cell.citations else ""
        if cell.text != cell.row:
            by_table[cell.file].add(f"{escape(cell.column)}: {escape(cell.text or '(empty)')}{cited}")
    for file, branch in by_table.items():
        for step in [step for step in way.steps if file in step.outs][:1]:
            _add_step(branch, step)
    if not by_table:
        tree.add("in no table")


def _add_step(branch: Tree, step: Step) -> None:
    given = {key: value for key, value in flattened(step.parameters).items() if value is not None}
    parameters = "".join(
        f", {escape(f'{key}={msgspec.json.encode(value).decode()}')}" for key, value in given.items()
    )
    code = f"code {step.code_version} ({len(step.code)} files)"
    made = branch.add(f"[cyan]stage {escape(step.stage)}[/], {code}{parameters}")
    if step.changed_since:
        made.add(f"[yellow]other ones now: {escape(', '.join(step.changed_since))}[/]")


def _answer_tree(answer: AnswerTrace, again: Reexecution | None) -> Tree:
    from rich.tree import Tree

    (right, n), row = answer.adds, answer.row
    tree = Tree(f"[bold]{escape(answer.name)}[/] adds {right} of {n}")
    predicted, expected = (escape(str(row[key])) for key in ("predicted", "expected"))
    at = f"{escape(answer.file)}:{answer.line}"
    tree.add(f"[bold]row[/] {at}: predicted “{predicted}”, expected “{expected}”")
    reads = "reads" if answer.log_intact else "[bold red]does not read"
    intact = f"{reads} back to this digest{'' if answer.log_intact else '[/]'}"
    over = f"{answer.log} over {answer.log_deltas:,} deltas"
    log = tree.add(f"[bold]log[/] {escape(answer.log_name)}: {over}; {intact}")
    for one in answer.evidence:
        log.add(escape(f"position {one.position}, tick {one.tick}: {one.op} {one.triple}"))
    item = f" ({escape(answer.source)})" if answer.source != answer.source_file else ""
    source = escape(answer.source_file or answer.source)
    tree.add(f"[bold]input[/] {source} {_short(answer.source_sha256)}{item}")
    if again:
        row, log, file = (
            "[green]the same[/]" if same else "[bold red]another one[/]"
            for same in (again.same_row, again.same_log, again.same_log_file)
        )
        said = f"row: {row}, log digest: {log}, log file: {file}"
        computed = tree.add(f"[bold]computed again from the input[/] {said}")
        if not again.same_row:
            computed.add(escape(again.row or "no row"))
    return tree


def _short(digest: str) -> str:
    """A digest's first digits; the JSON has all of them."""
    return digest[:19] if digest else "none"
