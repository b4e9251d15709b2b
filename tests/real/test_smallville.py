"""The real 25-persona log: what its file says, who knew of the party and from whom, and what would have come
otherwise.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import NamedNode
from runnable_pages import Block, Page

from substrate import EventLog, OverrideLocation, RetractAwareness, RuleEmitter, TBox, fork
from substrate.ask import ask, chains
from substrate.memory.memory import Memory

FILE = (
    Path(__file__).resolve().parents[2]
    / ".."
    / "shared"
    / "data"
    / "smallville"
    / "master_movement_n25.json.gz"
)

pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="../shared/data/smallville is absent")

V, E = "urn:substrate:village:", "urn:village:"
LABEL = NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
PARTY, KNOWS, AT = NamedNode(E + "party"), NamedNode(V + "knows"), NamedNode(V + "at")
BOX = TBox.load("village")
RULES = RuleEmitter(BOX)


def persona(name: str) -> NamedNode:
    return NamedNode(E + name.lower().replace(" ", "-"))


@pytest.fixture(scope="module")
def raw() -> dict[int, dict[str, Any]]:
    return {int(step): records for step, records in json.loads(gzip.decompress(FILE.read_bytes())).items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("smallville")
    (folder / FILE.name).symlink_to(FILE.resolve())
    return folder


@pytest.fixture(scope="module")
def page(folder: Path) -> list[tuple[Block, str]]:
    """The blocks of the page and what they print; they leave their logs in the folder."""
    with contextlib.chdir(folder):
        return list(Page("smallville.md").run())


@pytest.fixture(scope="module")
def log(page: list[tuple[Block, str]], folder: Path) -> EventLog:
    return EventLog.read(folder / "party.rdfp")


@pytest.fixture(scope="module")
def told(raw: dict[int, dict[str, Any]]) -> dict[str, tuple[int, str | None]]:
    """Step and teller of each who comes to know of the party: the file read by hand, by the names in its
    descriptions.
    """
    known: dict[str, tuple[int, str | None]] = {"Isabella Rodriguez": (2159, None)}
    seen = set()
    for step, name, record in sorted(
        (step, name, record)
        for step, records in raw.items()
        for name, record in records.items()
        if record["chat"]
    ):
        if (text := json.dumps(record["chat"])) in seen:
            continue
        seen.add(text)
        talkers = {name, record["description"].split("<persona> ")[1]}
        for speaker, words in record["chat"]:
            if "party" in words.lower().partition("valentine")[2] and speaker in talkers:
                known.setdefault(speaker, (step, None))
                for other in talkers:
                    known.setdefault(other, (step, speaker))
    return known


def count(log: EventLog, kind: str, tick: int | None = None) -> int:
    return sum(1 for _ in log.state(tick).match(None, None, NamedNode(V + kind)))


def knowers(log: EventLog, tick: int) -> set[str]:
    return set(ask(BOX, log, "who_knew", fact=PARTY, tick=tick).answer.split(", "))


def test_the_page_prints_what_it_says(page: list[tuple[Block, str]]) -> None:
    assert [output for _, output in page] == [block.expected for block, _ in page]


def test_the_log_holds_what_the_file_says(raw: dict[int, dict[str, Any]], log: EventLog) -> None:
    chats = {
        json.dumps(record["chat"]): len(record["chat"])
        for records in raw.values()
        for record in records.values()
        if record["chat"]
    }
    assert (len(raw), min(raw), max(raw)) == (5391, 2160, 7550)
    assert (log.ticks[0], log.last_tick) == (2159, 7550)
    assert count(log, "Persona") == len({name for records in raw.values() for name in records}) == 25
    assert count(log, "Conversation") == len(chats) == 305
    assert count(log, "Utterance") == sum(chats.values()) == 2806, "no rule unsays what the file tells"
    couples = log.state().query("SELECT ?a ?b WHERE { ?a :partnerOf ?b }", prefixes=BOX.prefixes)
    assert {row["a"].value for row in couples} == {  # pyright: ignore[reportGeneralTypeIssues]
        persona(name).value for name in ("Tom Moreno", "Jane Moreno", "Sam Moore", "Jennifer Moore")
    }


def test_everyone_is_on_the_recorded_tile_and_who_stands_still_is_where_it_acts(
    raw: dict[int, dict[str, Any]], log: EventLog
) -> None:
    current: dict[str, Any] = {}
    checked = 0
    for step, records in raw.items():
        before, current = current, current | records
        if step % 190 or step == 2160:
            continue
        state = log.state(step)
        for name, record in current.items():
            found = state.match(persona(name), NamedNode(V + "tile"))
            tiles = [o.value for _, _, o in found]  # pyright: ignore
            assert tiles == ["{},{}".format(*record["movement"])]
            address = record["description"].split(" @ ")[1].split(":")
            if before[name]["movement"] == record["movement"] and len(address) > 1:
                (place,) = (
                    label
                    for _, _, at in state.match(persona(name), AT)
                    for _, _, label in state.match(at, LABEL)  # pyright: ignore[reportArgumentType]
                )
                assert place.value == f"{address[1]}, {address[2]}"  # pyright: ignore
                checked += 1
    assert checked > 300


def test_it_conforms_to_the_shapes(log: EventLog) -> None:
    for tick in (2160, 7550):
        assert BOX.validate(log.state(tick)) == []
    broken = fork(log, 7550)
    broken.extend_lines([(7550, f"A {persona('Sam Moore')} <{V}at> <{E}place:nowhere> .")])
    assert "is at more than one place" in str(BOX.validate(broken.state(), broken)[0])


@pytest.mark.parametrize("tick", [2160, 3441, 3442, 4036, 4149, 4300, 5000, 6395, 6396, 7550])
def test_who_knew_of_the_party(log: EventLog, told: dict[str, tuple[int, str | None]], tick: int) -> None:
    assert knowers(log, tick) == {name for name, (step, _) in told.items() if step <= tick}


def test_from_whom(log: EventLog, told: dict[str, tuple[int, str | None]]) -> None:
    box = BOX.naming(log)
    found = {box.label(chain[0].knower): chain for chain in chains(BOX, log, PARTY, 7550)}
    assert {name: (c[0].tick, c[0].source and box.label(c[0].source)) for name, c in found.items()} == told
    jennifer = found["Jennifer Moore"]
    assert [(box.label(link.knower), link.tick) for link in jennifer] == [
        ("Jennifer Moore", 6396),
        ("Sam Moore", 3442),
        ("Isabella Rodriguez", 2159),
    ]
    for link in jennifer:
        assert log[link.position].triple == (link.knower, KNOWS, PARTY)
        assert all(log[p].tick == link.tick for p in link.evidence)
    (said,) = (log[p].triple[2] for p in jennifer[0].deltas if log[p].triple[1] == NamedNode(V + "said"))
    ((_, _, literal),) = log.state().match(said, NamedNode(V + "words"))  # pyright: ignore
    words = literal.value  # pyright: ignore
    assert "Isabella has invited us to a Valentine's Day party at Hobbs Cafe" in words
    assert [name for name, c in found.items() if c[-1].source is None and len(c) == 1] == [
        "Isabella Rodriguez",
        "Latoya Williams",
        "Ryan Park",
    ]


def test_a_fork_without_an_intervention_is_the_log(log: EventLog) -> None:
    assert fork(log, 7200, emitter=RULES).digest == log.digest


def test_who_forgets_before_passing_it_on_passes_nothing_on(log: EventLog) -> None:
    """Sam tells his wife at 6396, and mentions the party to others who know of it."""
    branch = fork(
        log, 6100, RetractAwareness(persona("Sam Moore"), PARTY, KNOWS), RuleEmitter(BOX, until=6400)
    )
    assert knowers(log, 6400) - knowers(branch, 6400) == {"Sam Moore", "Jennifer Moore"}
    assert BOX.validate(branch.state()) == []
    gone = {s for s, _, _ in log.state(6400).match(None, NamedNode(V + "mentions"))} - {
        s for s, _, _ in branch.state().match(None, NamedNode(V + "mentions"))
    }
    assert {s.value.split(":")[3] for s in gone} == {"6106", "6396"}
    assert count(branch, "Conversation") == count(log, "Conversation", 6400), (
        "they still talk, of other things"
    )


def test_who_is_told_by_another_later_knows_from_then(log: EventLog) -> None:
    """Klaus forgets before he tells Abigail at 4389; Sam speaks of the party to him at 5914."""
    branch = fork(
        log, 4300, RetractAwareness(persona("Klaus Mueller"), PARTY, KNOWS), RuleEmitter(BOX, until=5914)
    )
    assert {"Klaus Mueller", "Abigail Chen"} <= knowers(log, 5913)
    assert knowers(branch, 5913) == knowers(log, 5913) - {"Klaus Mueller", "Abigail Chen"}
    box = BOX.naming(log)
    (klaus,) = (
        chain for chain in chains(BOX, branch, PARTY, 5914) if chain[0].knower == persona("Klaus Mueller")
    )
    assert [(box.label(link.knower), link.tick) for link in klaus] == [
        ("Klaus Mueller", 5914),
        ("Sam Moore", 3442),
        ("Isabella Rodriguez", 2159),
    ]


def test_who_is_elsewhere_talks_to_nobody_until_the_record_moves_it(log: EventLog) -> None:
    """Isabella is put into her apartment two steps before she invites Sam at the cafe."""
    isabella, home = (
        persona("Isabella Rodriguez"),
        NamedNode(E + "place:isabella-rodriguez%27s-apartment:main-room"),
    )
    assert ask(BOX, log, "where", entity=isabella, tick=3439).answer == "Hobbs Cafe, cafe"
    branch = fork(log, 3440, OverrideLocation(isabella, home, AT), RuleEmitter(BOX, until=4082))
    talk = NamedNode(V + "Conversation")
    held = {s.value for s, _, _ in log.state(4082).match(None, None, talk)}  # pyright: ignore
    lost = held - {s.value for s, _, _ in branch.state(4082).match(None, None, talk)}  # pyright: ignore
    assert {name.split(":")[3] for name in lost} == {"3442", "3656", "4036"}
    assert knowers(branch, 4081) == {"Isabella Rodriguez"}
    assert knowers(branch, 4082) == {"Isabella Rodriguez", "Eddy Lin"}, (
        "at 4062 the record takes her elsewhere; at 4082 she talks to Eddy"
    )
    assert BOX.validate(branch.state(3500)) == []


def test_conversion_is_the_same_under_any_hash_seed(raw: dict[int, dict[str, Any]], tmp_path: Path) -> None:
    part = tmp_path / "part.json"
    part.write_text(
        json.dumps({step: records for step, records in raw.items() if 3400 <= step < 3700}), "utf-8"
    )
    command = "import sys; from substrate.cli.log import log_app; log_app(sys.argv[1:])"
    arguments = (
        "import",
        "smallville",
        part,
        "--fact",
        "party=valentine.*party",
        "--fact",
        "mayor=run.* for .*mayor",
        "--out",
    )
    files = [tmp_path / f"{seed}.rdfp" for seed in (1, 2)]
    for file in files:
        subprocess.run(
            [sys.executable, "-c", command, *map(str, arguments), str(file)],
            check=True,
            env=os.environ | {"PYTHONHASHSEED": file.stem},
            capture_output=True,
        )
    assert files[0].read_bytes() == files[1].read_bytes()
    assert knowers(EventLog.read(files[0]), 3699) == {"Isabella Rodriguez", "Sam Moore", "Giorgio Rossi"}


def test_a_recorded_simulation_is_a_memory(log: EventLog) -> None:
    """Sam is told by Isabella, and tells his wife; without him she would not have known."""
    memory = Memory(log, BOX)
    sam, jennifer = persona("Sam Moore"), persona("Jennifer Moore")
    assert [str(who) for who in memory.who_knew(PARTY, 4036)] == [
        str(persona(name)) for name in ("Isabella Rodriguez", "Sam Moore", "Giorgio Rossi", "Klaus Mueller")
    ]
    chain = memory.told_by(jennifer, PARTY)
    assert [(link.knower, link.tick) for link in chain] == [
        (jennifer, 6396),
        (sam, 3442),
        (persona("Isabella Rodriguez"), 2159),
    ]
    branch = memory.imagine(6100, RetractAwareness(sam, PARTY, KNOWS), RuleEmitter(BOX, until=6400))
    assert {who for who, word, _ in memory.compare(branch, 6400).retracted if word == KNOWS} == {
        sam,
        jennifer,
    }
