"""A log served over the Model Context Protocol, driven by the official client."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from substrate import EventLog, Namespace, TBox, unfold
from substrate.memory.memory import Memory

pytest.importorskip("mcp")
anyio = pytest.importorskip("anyio")

from mcp import Client, StdioServerParameters  # noqa: E402

V = Namespace("https://example.org/v#")
READING = {"about", "sparql", "as_of", "who_knew", "told_by", "why", "impact", "history", "what_if_forgotten"}
Session = Callable[[Any], Awaitable[None]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory.rdfp"
    with EventLog.open(path) as log:
        memory = Memory(log)
        memory.believe(V.isabella, V.party, author=V.isabella)
        told = memory.believe(V.sam, V.party, told_by=V.isabella)
        memory.observe(V.sam, V.says, "see you there", cause=told)
    return path


def serving(session: Session, *arguments: object) -> None:
    """Start `substrate mcp` and talk with it."""
    start = "from substrate.cli.launcher import main; main()"
    server = StdioServerParameters(
        command=sys.executable, args=["-W", "ignore", "-c", start, "mcp", *map(str, arguments)]
    )

    async def talk() -> None:
        async with Client(server) as client:
            await session(client)

    anyio.run(talk)


async def call(client: Any, tool: str, **arguments: Any) -> Any:
    done = await client.call_tool(tool, arguments)
    assert not done.is_error, done.content
    return done.structured_content


async def refused(client: Any, tool: str, **arguments: Any) -> str:
    done = await client.call_tool(tool, arguments)
    assert done.is_error
    return done.content[0].text


def test_a_client_reads_who_knew_why_and_what_if(path: Path) -> None:
    digest, before = EventLog.read(path).digest, path.read_bytes()

    async def session(client: Any) -> None:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == READING
        assert all(tool.annotations.read_only_hint and tool.description for tool in tools)
        about = await call(client, "about")
        assert (about["digest"], about["writable"], about["last_tick"]) == (digest, False, 2)
        knew = await call(client, "who_knew", fact=V.party.value)
        assert knew == {"who": [str(V.isabella), str(V.sam)]}
        assert await call(client, "who_knew", fact=str(V.party), tick=0) == {"who": [str(V.isabella)]}
        chain = (await call(client, "told_by", agent=V.sam.value, fact=V.party.value))["chain"]
        assert [(link["who"], link["from"]) for link in chain] == [
            (str(V.sam), str(V.isabella)),
            (str(V.isabella), None),
        ]
        grounds = (
            await call(client, "why", subject=V.sam.value, predicate=V.says.value, object='"see you there"')
        )["grounds"]
        assert [ground["tick"] for ground in grounds] == [2, 1, 0]
        assert grounds[-1]["author"] == str(V.isabella)
        changed = await call(client, "what_if_forgotten", agent=V.isabella.value, fact=V.party.value, at=1)
        assert len(changed["would_not_hold"]) == 3
        assert changed["would_hold"] == []
        rows = await call(client, "sparql", sparql=f"SELECT ?who {{ ?who {V.says} ?words }}")
        assert rows["rows"] == [[str(V.sam)]]
        assert (await call(client, "sparql", sparql="ASK { ?s ?p ?o }", tick=0))["boolean"]
        told = await call(
            client, "history", subject=V.sam.value, predicate=V.says.value, object='"see you there"'
        )
        assert told["intervals"] == [{"start": 2, "end": None}]

    serving(session, path)
    assert path.read_bytes() == before


def test_what_a_client_may_not_do_is_refused_with_a_reason(path: Path) -> None:
    async def session(client: Any) -> None:
        assert "network" in await refused(
            client, "sparql", sparql="ASK { SERVICE <http://192.0.2.1/> { ?s ?p ?o } }"
        )
        assert "update" in await refused(client, "sparql", sparql="INSERT DATA { <urn:a> <urn:b> <urn:c> }")
        assert "rows" in await refused(client, "sparql", sparql="SELECT * { ?s ?p ?o }")
        assert "no term" in await refused(client, "who_knew", fact="<urn:a> . <urn:b> <urn:c> <urn:d>")
        assert "no term" in await refused(client, "who_knew", fact="<<( " * 20_000)
        assert "not aware" in await refused(
            client, "what_if_forgotten", agent=V.ann.value, fact=V.party.value, at=1
        )
        await refused(client, "observe", subject=V.ann.value, predicate=V.at.value, object=V.cafe.value)
        assert (await call(client, "about"))["deltas"] > 0, "it still serves"

    serving(session, path, "--limit", 2)


def test_a_client_that_may_write_remembers_for_good(path: Path) -> None:
    async def session(client: Any) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == READING | {"observe", "believe", "forget"}
        await call(client, "believe", agent=V.jennifer.value, fact=V.party.value, told_by=V.sam.value)
        await call(
            client,
            "observe",
            subject=V.ann.value,
            predicate=V.at.value,
            object=V.cafe.value,
            author="an agent",
        )
        await call(client, "forget", subject=V.sam.value, predicate=V.says.value, object='"see you there"')

    serving(session, path, "--write")
    memory = Memory(EventLog.read(path))
    assert memory.who_knew(V.party) == [V.isabella, V.sam, V.jennifer]
    (ground,) = memory.why(V.ann, V.at, V.cafe)
    assert ground.author.value == "an agent"  # pyright: ignore
    assert [gone.said[1] for gone in memory.forgotten()] == [V.says]


def test_a_reader_sees_what_a_writer_appends(path: Path) -> None:
    async def session(client: Any) -> None:
        assert (await call(client, "about"))["last_tick"] == 2
        with EventLog.open(path) as log:
            Memory(log).believe(V.jennifer, V.party, told_by=V.sam)
        assert (await call(client, "about"))["last_tick"] == 3

    serving(session, path)


def test_a_tbox_gives_its_words_and_prefixes(tmp_path: Path) -> None:
    box = TBox.load("village")
    unfold(box, box.opening(), until=8).save(tmp_path / "village.rdfp")

    async def session(client: Any) -> None:
        assert len((await call(client, "who_knew", fact="entity:party", tick=7))["who"]) == 3
        chain = (await call(client, "told_by", agent="entity:sam", fact="entity:party"))["chain"]
        assert [link["tick"] for link in chain] == [8, 2, 0]
        assert (await call(client, "sparql", sparql="ASK { entity:sam :knows entity:party }"))["boolean"]

    serving(session, tmp_path / "village.rdfp", "--tbox", "village")
