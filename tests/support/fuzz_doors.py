"""Every door, which is a reader of input from outside, with inputs that it accepts."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pyoxigraph as ox
from clevrer_scenes import annotation, event_record, question
from logs import unfolded

from orchestration.benchmarks.benchmark import Case, Cases
from orchestration.fetch.archives import extract
from orchestration.ledger.manifest import Made, Manifest, look_at
from orchestration.ledger.measurement import Pin
from orchestration.ledger.pinned import PinFile, broken, pin_name, read_pins
from orchestration.models.exchange import Reply, address, make_record
from orchestration.models.transcript import read_transcript
from orchestration.project import SETTINGS
from orchestration.settings import load_settings
from orchestration.workspace.storage import Storage
from orchestration.workspace.tables import ShardedTable, short_key, table_once, table_sums, write_cases
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
from substrate.log._chain import Chain
from substrate.log._members import pack
from substrate.log.repair import repair
from substrate.rules.lint import lint
from substrate.sparql.guard import QueryError, checked

ROOT = Path(__file__).parents[2]


class Door(NamedTuple):
    """A reader of a file, and bytes that it accepts; it may raise nothing but the project's own errors."""

    read: Callable[[Path], object]
    seeds: Callable[[], list[bytes]]
    name: str = "input"
    """The name of the file."""
    wrap: Callable[[bytes], bytes] = bytes
    """Adds the digests, checksums and seals that fit changed bytes, as an attacker would."""


@cache
def village() -> EventLog:
    """A small log."""
    return unfolded("village", until=3)[1]


def _annotation() -> bytes:
    return json.dumps(annotation([(0, 1, 3)], frames=5)).encode()


def _zip(member: bytes | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("annotation_00001.json", _annotation() if member is None else member)
    return buffer.getvalue()


EVENTS = event_record(
    ("red cube", "blue cube"),
    [(0, 1, 20)],
    scene_index=3,
    in_outs=[{"frame": 4, "object": [0], "type": "in"}, {"frame": 60, "object": 1, "type": "out"}],
)
QUESTIONS = [
    {
        "scene_index": 3,
        "video_filename": "video_00003.mp4",
        "questions": [
            question("objects count", "2") | {"question_subtype": "count"},
            question("events belong_to", number=1, kind="explanatory", choices=[("events", "correct")]),
        ],
    }
]
HUMANS = {
    "3": {
        "questions": [
            {
                "question_id": 0,
                "question": "Which of the following is responsible for the red cube's stop?",
                "question_type": "explanatory",
                "choices": [{"choice_id": 0, "choice": "the blue cube moves", "answer": "wrong"}],
            }
        ]
    }
}
TRAJECTORIES = {
    "scene_index": 3,
    "objects": EVENTS["objects"],
    "trajectory": {"0": [[0, 0.1, 0.2], [5, 0.2, 0.3]], "1": [[0, 1.0, 1.0]]},
}
CUP = {"name": "cup", "x": 0, "y": 0, "w": 2, "h": 2, "attributes": ["red"], "relations": []}
GRAPHS = {
    "7": {
        "width": 9,
        "height": 9,
        "objects": {"1": CUP, "2": CUP | {"relations": [{"name": "on", "object": "1"}]}},
    }
}
GQA = {
    "11": {
        "question": "What color?",
        "imageId": "7",
        "answer": "red",
        "semantic": [
            {"operation": "select", "argument": "cup (1)", "dependencies": []},
            {"operation": "query", "argument": "color", "dependencies": [0]},
        ],
    }
}
STORIES = (
    b"1 Mary went to the park.\n2 John took the ball.\n"
    b"3 Where is Mary? \tpark\t1\n1 Bo is a cat.\n2 Is Bo a cat?\tyes\t1\n"
)
SPARQL = [
    b"SELECT ?s (COUNT(?o) AS ?n) WHERE { ?s <urn:p> ?o . OPTIONAL { ?o :a/:b* ?x } "
    b"FILTER(?x < 3 && !BOUND(?y)) } GROUP BY ?s",
    b'PREFIX ex: <urn:x#> ASK { ?s ex:p \'a\\u0041\'@en-GB , """b"c""" ; a ex:C . { } '
    b"UNION { VALUES ?s { 1 2.5 true } } }",
    b"CONSTRUCT { ?s ?p <<( ?a ?b ?c )>> } WHERE { ?s ?p ?o MINUS { ?o ?q ( 1 [ ?r 2 ] ) } } "
    b"ORDER BY ?s LIMIT 3 # end",
]


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


def forged_log(data: bytes) -> bytes:
    """The text of a log with a chain that fits its lines."""
    chain, tick, lines = Chain(), -1, list[str]()
    head, body = list[str](), None
    for line in data.decode("utf-8", "replace").split("\n"):
        if body is None:
            named = re.match(r'H tick "(\d{1,18})" \.$', line)
            tick = int(named[1]) if named else tick
            if line == "TX .":
                body = list[str]()
            elif not line.startswith(("H id", "H prev")):
                head.append(line)
        elif line == "TC .":
            before, chain = chain.value, chain.after(tick, body)
            origin = ("H parent", "H branch", "H descent", "H opening")
            first = [header for header in head if header.startswith(origin)]
            rest = [header for header in head if not header.startswith(origin)]
            lines += [*first, f"H id <{chain.value}> .", f"H prev <{before}> .", *rest, "TX .", *body, line]
            head, body = [], None
        else:
            body.append(line)
    return "\n".join([*lines, *head, *(body or ())]).encode()


def forged_member(data: bytes) -> bytes:
    """A packed log as this program writes it, with all its checksums."""
    return pack(forged_log(data).decode())


def forged_transcript(data: bytes) -> bytes:
    """Lines of a transcript, each with the address and digest of its request and reply."""
    lines: list[bytes] = []
    for line in data.splitlines():
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            record = json.loads(line)
            digest = address({"request": record["request"], "reply": record["reply"]})
            line = json.dumps(record | {"address": address(record["request"]), "digest": digest}).encode()
        lines.append(line + b"\n")
    return b"".join(lines)


def forged_zip(data: bytes) -> bytes:
    """An archive with one member, which has these bytes."""
    return _zip(data)


def forged_pins(data: bytes) -> bytes:
    """A file of pins with the seal of its lines."""
    return b'{"digest": "%s",\n%s\n' % (hashlib.sha256(data).hexdigest().encode(), data[2:])


def _pins(path: Path) -> None:
    root = path.parent
    (root / "pins").mkdir(exist_ok=True)
    (root / pin_name("sample")).write_bytes(path.read_bytes())
    broken(root, "sample")
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


def forged_manifest(data: bytes) -> bytes:
    """The manifest of a table with the seal that fits it."""
    with suppress(ValueError, TypeError, KeyError, RecursionError, AttributeError):
        manifest = json.loads(data)
        seal = short_key(manifest["folder"], manifest["shards"], manifest["sums"])
        return json.dumps(manifest | {"seal": seal}).encode()
    return data


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
        {
            "tool": name,
            **{key: value for key, value in triple.items() if key in kind.arguments.__struct_fields__},
        }
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
            about.size = len(STORIES)
            archive.addfile(about, io.BytesIO(STORIES))
    plain = gzip.decompress(buffer.getvalue())
    return [plain]


def _json(*values: object) -> Callable[[], list[bytes]]:
    return lambda: [json.dumps(value).encode() for value in values]


def _specs() -> list[bytes]:
    return [spec_line(number, 20).encode() for number in range(3)]


DOORS: dict[str, Door] = {
    "annotation": Door(
        lambda path: annotation_log(decode_annotation((str(path), path.read_bytes()))),
        lambda: [_annotation()],
    ),
    "annotations zip": Door(_annotations, lambda: [_zip()], "annotations.zip"),
    "events": Door(_events, lambda: [*_json(EVENTS)(), gzip.compress(json.dumps(EVENTS).encode(), mtime=0)]),
    "questions": Door(read_questions, _json(QUESTIONS, QUESTIONS[0])),
    "comphy questions": Door(comphy.read_questions, _json(QUESTIONS, QUESTIONS[0])),
    "human questions": Door(read_human_questions, _json(HUMANS)),
    "trajectories": Door(read_trajectories, _json(TRAJECTORIES)),
    "babi tasks": Door(
        lambda path: parse_stories(_text(path), file=str(path), subset="qa1"), lambda: [STORIES]
    ),
    "gqa graphs": Door(lambda path: dict(gqa.read_scene_graphs(path)), _json(GRAPHS)),
    "gqa questions": Door(gqa.read_questions, _json(GQA, [GQA["11"] | {"questionId": 3}])),
    "specs": Door(lambda path: (read_specs(path), read_gold(path)), _specs),
    "log": Door(_log, lambda: [village().to_patch().encode()], "log.rdfp"),
    "packed log": Door(_log, lambda: [gzip.compress(village().to_patch().encode(), mtime=0)], "log.rdfp.gz"),
    "patch": Door(lambda path: EventLog.from_patch(_text(path)), lambda: [village().to_patch().encode()]),
    "turtle": Door(lambda path: from_state(_text(path)), lambda: [to_turtle(village().state()).encode()]),
    "sparql": Door(_sparql, lambda: SPARQL),
    "tbox": Door(
        _tbox,
        lambda: [(ROOT / "tboxes" / f"{name}.ttl").read_bytes() for name in ("clinical", "clevrer")],
        "tbox.ttl",
    ),
    "parameters": Door(_params, lambda: [(ROOT / "params.yaml").read_bytes()], "params.yaml"),
    "transcript": Door(read_transcript, _transcript),
    "forged log": Door(_log, lambda: [village().to_patch().encode()], "log.rdfp", forged_log),
    "forged packed log": Door(_log, lambda: [village().to_patch().encode()], "log.rdfp.gz", forged_member),
    "repair": Door(repair, lambda: [village().to_patch().encode()], "log.rdfp", forged_log),
    "forged transcript": Door(read_transcript, _transcript, wrap=forged_transcript),
    "forged zip": Door(_annotations, lambda: [_annotation()], "annotations.zip", forged_zip),
    "tar": Door(
        lambda path: extract(path, lambda name: name.name, path.parent, what="task"),
        _tar,
        "tasks.tar.gz",
        lambda data: gzip.compress(data, mtime=0),
    ),
    "forged ledger": Door(_ledger, _ledger_texts),
    "forged pins": Door(_pins, _bare_pins, wrap=forged_pins),
    "forged manifest": Door(_manifest, _manifests, wrap=forged_manifest),
    "proposals": Door(_proposals, _proposed),
    "memory tools": Door(_call, _calls),
    "answers": Door(
        lambda path: read_answers(path, (0, 1)),
        lambda: [
            b"".join(
                b'{"spec": %d, "arm": "%s", "answer": "yes"}\n' % (spec, arm)
                for spec in (0, 1)
                for arm in (b"a", b"b")
            ),
            b'{"benchmark": "twin", "scene": 1, "question": 0, "predicted": "no"}\n',
        ],
    ),
}
"""Every door by name."""


def corpus(name: str) -> list[bytes]:
    """Inputs of a door that once broke something."""
    folder = ROOT / "tests" / "fuzz" / "corpus" / name.replace(" ", "_")
    return [path.read_bytes() for path in sorted(folder.glob("*"))] if folder.is_dir() else []
