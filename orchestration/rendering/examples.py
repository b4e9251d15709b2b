"""Worked examples: explained answers of each kind with a picture, and the logs behind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyoxigraph as ox

from orchestration.benchmarks.baselines import LanguageModel
from orchestration.benchmarks.benchmark import Explained
from orchestration.lineage.explain import ExplainedRow, by_scene, each_here, explain_case
from orchestration.registry import BENCHMARKS, EXPLAINED
from orchestration.rendering.diagrams import AskedOfBoth
from orchestration.rendering.page import templates
from orchestration.scoring.counting import rows_of
from orchestration.workspace.folders import Workspace
from orchestration.workspace.requests import conversations
from substrate.base.delta import Term
from substrate.base.vocabulary import RDF_TYPE
from substrate.cause.explanation import OWN, Explanation, short
from substrate.cause.pictures import Boxes, Story, Timeline
from substrate.domains.rows import ChoiceRow, Row
from substrate.log.event_log import EventLog
from substrate.log.history import Interval, histories

_LOOKED_AT = 40


class WorkedExample(NamedTuple):
    """An explained answer with its picture."""

    name: str
    explanation: Explanation
    row: Row
    picture: Timeline | Boxes
    story: Story
    """The log's steps as the page tells them."""
    telling: bool
    """True if it shows its kind well; the first such example is shown."""

    @property
    def wrong(self) -> list[ChoiceRow]:
        """The choices whose predicted answer differs from the expected one."""
        return [choice for choice in self.row.choices or () if choice.predicted != choice.expected]

    @property
    def fits(self) -> bool:
        """Tell whether the explanation uses the log that the answer was computed from."""
        return self.explanation.logs[OWN].digest == self.row.log


def worked_examples(workspace: Workspace) -> Iterator[tuple[str, WorkedExample]]:
    """Yield an example of each kind that this run has answers of, each after the kind's title."""
    for benchmark in EXPLAINED.values():
        file = workspace.answers(benchmark.name)
        for title, subset in benchmark.examples.items() if file.is_file() else ():
            if example := _example(workspace, benchmark, file, subset):
                yield title, example


def _example(workspace: Workspace, benchmark: Explained, file: Path, subset: str) -> WorkedExample | None:
    """The first instructive row among a subset's first answered rows; failing that, the first row."""
    answered = (row for row in rows_of(file) if row.subset == subset and row.error is msgspec.UNSET)
    rows = by_scene(islice(answered, _LOOKED_AT))
    explained = each_here(workspace, benchmark, rows, partial(explain_case, benchmark, rows))
    examples = (pictured(benchmark, answer) for answer in explained)
    if (first := next(examples, None)) is None or first.telling:
        return first
    return next((example for example in examples if example.telling), first)


def asked_of_both(workspace: Workspace, worked: Iterable[WorkedExample]) -> AskedOfBoth | None:
    """The first worked example with a fork, and the replies of the first language model that was asked it.

    ``None`` if no example has a fork.
    """
    models = [model for model in BENCHMARKS.values() if isinstance(model, LanguageModel)]
    for example in worked:
        benchmark, scene = EXPLAINED[example.row.benchmark], str(example.row.scene)
        if not benchmark.exhibits:
            continue
        file = workspace.answers(benchmark.name)
        rows = [row for row in rows_of(file) if str(row.scene) == scene]
        explain = partial(explain_case, benchmark, {scene: rows})
        answered = list(each_here(workspace, benchmark, {scene}, explain))
        title = f"{benchmark.title}, {example.name}"
        arms, whys = [benchmark.asked(row) for row in rows], [answer.explanation for answer in answered]
        asked = (conversations(workspace, model) for model in models if model.base is benchmark)
        of_scene = ((pair for pair in pairs if str(pair[0].scene) == scene) for pairs in asked)
        replied = next(filter(None, (list(islice(pairs, len(rows))) for pairs in of_scene)), [])
        return AskedOfBoth(arms, whys, rows, title, replied)
    return None


def pictured(benchmark: Explained, answer: ExplainedRow) -> WorkedExample:
    """An explained answer with its picture."""
    row, case, why = answer
    return WorkedExample(benchmark.answer_name(row), why, row, *benchmark.picture(case, why, row))


def write_states(profile: str, worked: Iterable[tuple[str, WorkedExample]], out: Path) -> None:
    """Write the page of states and its data: the logs of answers, with forks and other arms by name.

    A log that two examples share is written once. ``parent`` is the digest of the log that it was forked
    from; empty for an observed log.
    """
    by_digest: dict[str, dict[str, Any]] = {}
    for kind, example in worked:
        why = example.explanation
        for name, log in why.logs.items():
            described = {"answer": example.name, "log": name, "title": f"{example.name}: {name or kind}"}
            described |= {"digest": log.digest, "parent": log.parent_digest or "", "last": log.last_tick}
            by_digest.setdefault(log.digest, {**described, "triples": spans_of(why, log)})
    logs = list(by_digest.values())
    (out / "states.js").write_text(f"states({msgspec.json.encode(logs).decode()})\n", "utf-8")
    page = templates().get_template("states.html.j2").render(profile=profile, logs=logs)
    (out / "states.html").write_text(page, "utf-8")


def spans_of(why: Explanation, log: EventLog) -> list[tuple[str, list[Interval]]]:
    """Every triple that a log ever holds, in short names and words, with its spans of ticks."""

    def named(term: Term, words: bool) -> str:
        called = why.called.get(term.value, "") if words and isinstance(term, ox.NamedNode) else ""
        name = short(term, why.names)
        return f"{name} ({called})" if called and called != name else name

    spans: dict[str, list[Interval]] = {}
    for story in histories(log):
        subject, predicate, value = story.triple
        verb = "a" if predicate == RDF_TYPE else named(predicate, False)
        spans.setdefault(f"{named(subject, True)} {verb} {named(value, False)}", []).extend(story.spans)
    return sorted(spans.items())
