"""Every door, which is a reader of input from outside, with inputs that it accepts.

The table `DOORS` at the end is the place to begin. `fuzz_seeds.py` has the records that doors accept,
`fuzz_forgers.py` adds the checksums that changed bytes need, and `fuzz_mutators.py` changes the bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import fuzz_forgers as forged
import fuzz_seeds as records
import msgspec
import pyoxigraph as ox
from logs import unfolded

from orchestration.benchmarks.benchmark import Case, Cases
from orchestration.fetch.archives import extract
from orchestration.ledger.manifest import Made, Manifest, look_at
from orchestration.models.exchange import Reply, make_record
from orchestration.models.transcript import read_transcript
from orchestration.pins.paths import pin_name
from orchestration.pins.pin_files import Pin, PinFile, broken_seals, read_pins
from orchestration.project import SETTINGS
from orchestration.settings import load_settings
from orchestration.workspace.storage import Storage
from orchestration.workspace.tables import ShardedTable, table_once, table_sums, write_cases
from research.domains.grading import read_answers
from research.domains.humans import read_human_questions
from research.domains.perception.format import decode_proposals
from research.domains.perception.perceive import perceive
from research.generators.proposals import proposals
from substrate import EventLog, TBox
from substrate.adapters.memory_tools import READING, WRITING, Desk
from substrate.base.numbered import sources_in
from substrate.domains.babi.format import parse_stories
from substrate.domains.clevrer.deltas import annotation_log, events_log
from substrate.domains.clevrer.format import (
    annotation_names,
    decode_annotation,
    read_questions,
    read_scene_events,
)
from substrate.domains.clevrer.trajectories import read_trajectories
from substrate.domains.comphy import format as comphy
from substrate.domains.gqa import format as gqa
from substrate.domains.smallville.format import read_gold, read_specs
from substrate.generators.clevrer import generate_annotation
from substrate.generators.smallville import spec_line
from substrate.log import from_state, to_turtle
from substrate.log.repair import repair
from substrate.rules.lint import lint
from substrate.sparql.guard import QueryError, checked

ROOT = Path(__file__).parents[2]


class Door(NamedTuple):
    """A reader of a file, and bytes that it accepts; it may raise nothing but the project's own errors."""

    read: Callable[[Path], object]
    seeds: Callable[[], list[bytes]]
    file_name: str = "input"
    """The name of the file that it reads: a reader may look at the suffix."""
    wrap: Callable[[bytes], bytes] = bytes
    """Adds the digests, checksums and seals that fit changed bytes, as an attacker would."""


@cache
def village() -> EventLog:
    """A small log."""
    return unfolded("village", until=3)[1]


def _sparql(path: Path) -> None:
    store = ox.Store()
    text = checked(path.read_bytes().decode("utf-8", "replace"))
    try:
        list(store.query(text))  # pyright: ignore
    except (SyntaxError, ValueError, TypeError):
        pass
    except (OSError, RuntimeError) as error:
        if "HTTP" in str(error) or "SERVICE" in str(error).upper():
            raise AssertionError(f"the guard let a query reach out: {error}") from error
        raise QueryError(str(error)) from error


def _tbox(path: Path) -> None:
    box = TBox.load(path)
    lint(box)
    box.opening()


def _annotations(path: Path) -> None:
    names = annotation_names(path)
    for source in sources_in(path, names.values()):
        annotation_log(decode_annotation(source))


def _events(path: Path) -> None:
    for scene in read_scene_events(path).values():
        events_log(scene)


def _log(path: Path) -> None:
    EventLog.read(path).state()


def _params(path: Path) -> None:
    load_settings(path, SETTINGS)


def _transcript() -> list[bytes]:
    record = make_record({"model": "m", "messages": []}, Reply("yes", "stop", "text"))
    return [msgspec.json.encode(record, order="sorted") + b"\n"]


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def _pins(path: Path) -> None:
    root = path.parent
    (root / "pins").mkdir(exist_ok=True)
    (root / pin_name("sample")).write_bytes(path.read_bytes())
    broken_seals(root, "sample")
    read_pins(root, "sample")


def _bare_pins() -> list[bytes]:
    pin = Pin(outs={"a": "sha256:00"}, scores={"b/c/d": (1, 2)}, cells={"t": {"r": {"h": "1"}}}, unsafe="x")
    text = PinFile(sealed={"data.dvc": "00"}, lines={"data.dvc": "0000"}, stages={"a/b": pin}).text()
    return [b"{\n" + text.partition(b"\n")[2].rstrip(b"\n")]


def _ledger(path: Path) -> None:
    data, folder = path.read_bytes(), path.parent / "ledger"
    folder.mkdir(exist_ok=True)
    digest = hashlib.sha256(data).hexdigest().encode()
    (folder / "manifest.jsonl").write_bytes(digest + b"\n" + data)
    look_at(folder)


def _ledger_texts() -> list[bytes]:
    entry = Made(code={"a.py": "00"}, parameters={"k": 1}, outs={"out": "sha256:00"})
    return [msgspec.json.encode(Manifest(stages={"a/b": entry}, tables={"t": "00"}, beside={"p": "00"}))]


def _manifest(path: Path) -> None:
    """Look at a table of cases by its manifest: as `verify` does, and as a run that would read it."""
    place = path.parent / "sample" / "cases" / "b" / "key" / "table.json"
    if not place.is_file():
        _table(path.parent)
    place.write_bytes(path.read_bytes())
    table_sums(path.parent, "sample")
    assert _table(path.parent).folder == "sample/cases/b/key", "a manifest leads to another table"


def _table(root: Path) -> ShardedTable:
    """The table of one case, with its manifest."""
    cases, storage = Cases(1, iter([Case(3, "a.json", b"{}")])), Storage(root.as_uri())
    write = partial(write_cases, storage, cases, lambda of: 10, lambda done, of: None)
    return table_once(storage, ["sample/cases/b"], "key", write)


def _manifests() -> list[bytes]:
    with tempfile.TemporaryDirectory() as root:
        return [msgspec.json.encode(_table(Path(root)))]


def _call(path: Path) -> None:
    try:
        request = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (ValueError, RecursionError):
        return  # the protocol's library refuses this
    log = path.with_name("memory.rdfp")
    desk = Desk(log, write=True)
    try:
        desk.call(str(request.get("tool")), {key: value for key, value in request.items() if key != "tool"})
    finally:
        desk.close()
        if log.stat().st_size > 1 << 16:
            log.unlink()


def _calls() -> list[bytes]:
    ann = "https://example.org/ann"
    triple = {"subject": ann, "predicate": "https://example.org/likes", "object": '"tea"'}
    calls = [
        {"tool": name} | {key: triple[key] for key in triple if key in kind.arguments.__struct_fields__}
        for name, kind in {**READING, **WRITING}.items()
    ]
    calls.append({"tool": "sparql", "sparql": "SELECT * { ?s ?p ?o } LIMIT 2"})
    calls.append({"tool": "know", "agent": ann, "fact": ann})
    return [json.dumps(call).encode() for call in calls]


def _proposals(path: Path) -> None:
    perceive(decode_proposals((str(path), path.read_bytes())), str(path))


def _proposed() -> list[bytes]:
    made = proposals(generate_annotation(10_000, seed=0), seed=0)
    return [json.dumps(made | {"frames": made["frames"][:count]}).encode() for count in (2, 8)]


def _tar() -> list[bytes]:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in ("en/qa1_test.txt", "en/qa2_test.txt"):
            about = tarfile.TarInfo(name)
            about.size = len(records.STORIES)
            archive.addfile(about, io.BytesIO(records.STORIES))
    plain = gzip.decompress(buffer.getvalue())
    return [plain]


def _json(*values: object) -> Callable[[], list[bytes]]:
    return lambda: [json.dumps(value).encode() for value in values]


def _patch() -> list[bytes]:
    return [village().to_patch().encode()]


def _specs() -> list[bytes]:
    return [spec_line(number, 20).encode() for number in range(3)]


# Every door by name.
DOORS: dict[str, Door] = {
    "annotation": Door(
        lambda path: annotation_log(decode_annotation((str(path), path.read_bytes()))),
        lambda: [records.one_annotation()],
    ),
    "annotations zip": Door(
        _annotations, lambda: [forged.zipped(records.one_annotation())], "annotations.zip"
    ),
    "events": Door(
        _events,
        lambda: [*_json(records.EVENTS)(), gzip.compress(json.dumps(records.EVENTS).encode(), mtime=0)],
    ),
    "questions": Door(read_questions, _json(records.QUESTIONS, records.QUESTIONS[0])),
    "comphy questions": Door(comphy.read_questions, _json(records.QUESTIONS, records.QUESTIONS[0])),
    "human questions": Door(read_human_questions, _json(records.HUMANS)),
    "trajectories": Door(read_trajectories, _json(records.TRAJECTORIES)),
    "babi tasks": Door(
        lambda path: parse_stories(_text(path), file=str(path), subset="qa1"), lambda: [records.STORIES]
    ),
    "gqa graphs": Door(lambda path: dict(gqa.read_scene_graphs(path)), _json(records.GRAPHS)),
    "gqa questions": Door(gqa.read_questions, _json(records.GQA, [records.GQA["11"] | {"questionId": 3}])),
    "specs": Door(lambda path: (read_specs(path), read_gold(path)), _specs),
    "log": Door(_log, _patch, "log.rdfp"),
    "packed log": Door(_log, lambda: [gzip.compress(village().to_patch().encode(), mtime=0)], "log.rdfp.gz"),
    "patch": Door(lambda path: EventLog.from_patch(_text(path)), _patch),
    "turtle": Door(lambda path: from_state(_text(path)), lambda: [to_turtle(village().state()).encode()]),
    "sparql": Door(_sparql, lambda: records.SPARQL),
    "tbox": Door(
        _tbox,
        lambda: [(ROOT / "tboxes" / f"{name}.ttl").read_bytes() for name in ("clinical", "clevrer")],
        "tbox.ttl",
    ),
    "parameters": Door(_params, lambda: [(ROOT / "params.yaml").read_bytes()], "params.yaml"),
    "transcript": Door(read_transcript, _transcript),
    "forged log": Door(_log, _patch, "log.rdfp", forged.log),
    "forged packed log": Door(_log, _patch, "log.rdfp.gz", forged.member),
    "repair": Door(repair, _patch, "log.rdfp", forged.log),
    "forged transcript": Door(read_transcript, _transcript, wrap=forged.transcript),
    "forged zip": Door(_annotations, lambda: [records.one_annotation()], "annotations.zip", forged.zipped),
    "tar": Door(
        lambda path: extract(path, lambda name: name.name, path.parent, what="task"),
        _tar,
        "tasks.tar.gz",
        lambda data: gzip.compress(data, mtime=0),
    ),
    "forged ledger": Door(_ledger, _ledger_texts),
    "forged pins": Door(_pins, _bare_pins, wrap=forged.pins),
    "forged manifest": Door(_manifest, _manifests, wrap=forged.manifest),
    "proposals": Door(_proposals, _proposed),
    "memory tools": Door(_call, _calls),
    "answers": Door(lambda path: read_answers(path, (0, 1)), lambda: [records.ANSWERS, records.TWIN_ROW]),
}


def corpus(name: str) -> list[bytes]:
    """Inputs of a door that once broke something."""
    folder = ROOT / "tests" / "fuzz" / "corpus" / name.replace(" ", "_")
    return [path.read_bytes() for path in sorted(folder.glob("*"))] if folder.is_dir() else []
