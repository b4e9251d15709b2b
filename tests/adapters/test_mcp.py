"""A log served over the Model Context Protocol, driven by the official client."""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from substrate import EventLog, Namespace, ParameterError, TBox, unfold
from substrate.adapters.memory_tools import Desk
from substrate.memory.memory import Memory

pytest.importorskip("mcp")
anyio = pytest.importorskip("anyio")

from mcp import Client, StdioServerParameters  # noqa: E402

V = Namespace("https://example.org/v#")
# The tools of a log that is only read, and those that a log has beside them if it may be written.
READING = {"about", "recall", "who_knew", "told_by", "why", "impact", "history", "what_if", "sparql"}
WRITING = {"remember", "know", "correct", "end", "forget"}
CAFE = "<urn:village:cafe>"
# A query that only a limit of time ends.
ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
Session = Callable[[Any], Awaitable[None]]
START = (sys.executable, "-W", "ignore", "-c", "from substrate.cli.launcher import main; main()", "mcp")
HANDSHAKE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory.rdfp"
    with EventLog.open(path) as log:
        memory = Memory(log)
        memory.believe(V.isabella, V.party, author=V.isabella)
        told = memory.believe(V.sam, V.party, told_by=V.isabella)
        memory.observe(V.sam, V.says, "see you there", cause=told)
    return path


def run_session(session: Session, *arguments: object) -> None:
    """Run the session of a client with a new `substrate mcp`."""
    server = StdioServerParameters(command=START[0], args=[*START[1:], *map(str, arguments)])

    async def talk() -> None:
        async with Client(server) as client:
            await session(client)

    anyio.run(talk)


async def call(client: Any, tool: str, **arguments: Any) -> Any:
    done = await client.call_tool(tool, arguments)
    assert not done.is_error, done.content
    assert json.loads(done.content[0].text) == done.structured_content
    return done.structured_content


async def refused(client: Any, tool: str, **arguments: Any) -> str:
    done = await client.call_tool(tool, arguments)
    assert done.is_error
    return done.content[0].text


def fact(subject: str, predicate: str, object: object) -> dict[str, object]:
    return {"subject": subject, "predicate": predicate, "object": object}


def test_a_client_reads_who_knew_why_and_what_if(path: Path) -> None:
    digest, before = EventLog.read(path).digest, path.read_bytes()

    async def session(client: Any) -> None:
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == READING
        assert all(tool.annotations.read_only_hint and tool.description for tool in tools)
        about = await call(client, "about")
        assert (about["digest"], about["writable"], about["last_tick"]) == (digest, False, 2)
        assert (await call(client, "who_knew", fact=str(V.party)))["who"] == ["isabella", "sam"]
        assert (await call(client, "who_knew", fact=str(V.party), tick=0))["who"] == ["isabella"]
        chain = (await call(client, "told_by", agent="Sam", fact="party"))["chain"]
        assert [(link["who"], link["from"]) for link in chain] == [("sam", "isabella"), ("isabella", None)]
        sentence = fact("sam", "says", "see you there")
        grounds = (await call(client, "why", **sentence))["grounds"]
        assert [ground["tick"] for ground in grounds] == [2, 1, 0]
        assert (grounds[0]["says"], grounds[-1]["author"]) == (sentence, str(V.isabella))
        assert (await call(client, "recall", subject="sam", predicate="says"))["facts"] == [sentence]
        rows = await call(client, "sparql", sparql=f"SELECT ?who {{ ?who {V.says} ?words }}")
        assert rows["rows"] == [[str(V.sam)]]
        assert (await call(client, "sparql", sparql="ASK { ?s ?p ?o }", tick=0))["boolean"]
        assert (await call(client, "history", **sentence))["intervals"] == [{"start": 2, "end": None}]

    run_session(session, path)
    assert path.read_bytes() == before


def test_every_argument_is_described_with_an_example(path: Path) -> None:
    async def session(client: Any) -> None:
        for tool in (await client.list_tools()).tools:
            assert tool.input_schema["additionalProperties"] is False
            for name, argument in tool.input_schema["properties"].items():
                assert argument["description"], (tool.name, name)
                assert argument["examples"], (tool.name, name)

    run_session(session, path, "--write")


def test_each_of_the_five_interventions_can_be_imagined(tmp_path: Path) -> None:
    box = TBox.load("village")
    unfold(box, box.opening(), until=8).save(tmp_path / "village.rdfp")

    async def session(client: Any) -> None:
        async def what_if(change: str, subject: str, object: str, **more: Any) -> Any:
            return await call(client, "what_if", change=change, subject=subject, object=object, **more)

        forgot = await what_if("retract_awareness", "isabella", "party", at=1)
        assert forgot["would_not_hold_total"] >= 1
        knew = await what_if("assert_awareness", "klaus", "cafe")
        (place,) = (await call(client, "recall", subject="klaus", predicate="at"))["facts"]
        assert [triple["object"] for triple in knew["would_hold"]] == [CAFE], "a thing, by its IRI"
        (moved,) = (await what_if("override_location", "klaus", "atlantis"))["would_hold"]
        assert (moved["predicate"], moved["object"]) == (place["predicate"], "<urn:memory:atlantis>")
        gone = await what_if("retract", "klaus", place["object"], predicate=place["predicate"])
        assert gone["would_not_hold"] == [{k: place[k] for k in ("subject", "predicate", "object")}]
        new = await what_if("assert", "klaus", "cake", predicate="likes")
        assert new["would_hold"] == [fact("klaus", "likes", "cake")]

    run_session(session, tmp_path / "village.rdfp", "--tbox", "village")


def test_a_forbidden_call_is_refused_with_a_reason(path: Path) -> None:
    with EventLog.open(path) as log:
        log.insert(Namespace("urn:other:").sam, V.at, V.cafe)

    async def session(client: Any) -> None:
        assert "network" in await refused(
            client, "sparql", sparql="ASK { SERVICE <http://192.0.2.1/> { ?s ?p ?o } }"
        )
        assert "update" in await refused(client, "sparql", sparql="INSERT DATA { <urn:a> <urn:b> <urn:c> }")
        assert "rows" in await refused(client, "sparql", sparql="SELECT * { ?s ?p ?o }")
        assert "nothing is called" in await refused(
            client, "who_knew", fact="<urn:a> . <urn:b> <urn:c> <urn:d>"
        )
        assert "not a term" in await refused(client, "who_knew", fact="<<( " * 20_000)
        assert "Near it: isabella" in await refused(client, "recall", subject="isabela")
        both = await refused(client, "recall", subject="sam")
        assert V.sam.value in both
        assert "urn:other:sam" in both
        unknown = await refused(client, "recall", subject="isabella", knower="sam")
        assert "unknown field `knower`. It takes subject, predicate" in unknown
        assert "missing" in await refused(client, "who_knew")
        assert "not aware" in await refused(
            client, "what_if", change="retract_awareness", subject=str(V.ann), object=str(V.party), at=1
        )
        assert "no tool 'remember'" in await refused(client, "remember", **fact("ann", "at", "home"))
        assert (await call(client, "about"))["deltas"] > 0, "it still serves"

    run_session(session, path, "--limit", 2)  # the most rows of a query's answer


def test_a_client_that_may_write_remembers_for_good(path: Path) -> None:
    async def session(client: Any) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING | WRITING
        await call(client, "know", agent="jennifer", fact="party", told_by="sam")
        await call(client, "know", agent=str(V.jane), fact="party", told_by="jennifer")
        made = await call(client, "remember", **fact("ann lee", "wears", "gold"), author="an agent")
        assert made["new_names"] == ["ann_lee", "wears"]
        stored = {**fact("ann_lee", "wears", "gold"), "by": ["an agent"]}
        assert (await call(client, "recall", object="gold"))["facts"] == [stored]
        await call(client, "remember", **fact("gold", "weighs", 19.3), because=made["record"])
        assert (await call(client, "impact", **fact("Ann-Lee", "wears", "gold")))["total"] == 1
        ended = await call(client, "correct", **fact("ann lee", "wears", "silver"))
        assert ended["ended"]["object"] == "gold", "the text, though a thing has its name by now"
        assert (await call(client, "history", **fact("ann lee", "wears", "gold")))["intervals"][0]["end"]
        await call(client, "remember", **fact("ring", "of", {"thing": "Gold"}))
        (ring,) = (await call(client, "recall", subject="ring"))["facts"]
        assert ring["object"] == "<urn:memory:gold>"
        assert "<urn:memory:gold>" in (await call(client, "recall", subject="ring", object="gold"))["note"]
        assert "<urn:memory:gold>" in await refused(client, "forget", **fact("ring", "of", "gold"))
        await call(client, "end", **fact("ring", "of", ring["object"]))
        assert "silver" in await refused(client, "correct", **fact("ann lee", "wears", "tin"), instead_of="x")
        await call(client, "end", **fact("ann lee", "wears", "silver"))
        forgot = await call(client, "forget", **fact("sam", "says", "see you there"))
        assert "withdrawn" not in forgot

    run_session(session, path, "--write")
    memory = Memory(EventLog.read(path))
    jennifer, jane = memory.who_knew(V.party)[2:]
    assert [str(jennifer), jane] == ["<urn:memory:jennifer>", V.jane]
    assert [gone.said[1] for gone in memory.forgotten()] == [V.says]


def test_a_reply_is_a_page_and_says_where_the_next_begins(path: Path) -> None:
    with EventLog.open(path) as log:
        memory = Memory(log)
        for number in range(300):
            memory.observe(V.ann, V.said, f"{number:03} " + "x" * 20 * (number % 3))
        memory.observe(V.ann, V.wrote, "y" * 50_000)

    async def session(client: Any) -> None:
        facts: list[Any] = []
        cursor: int | None = 0
        while cursor is not None:
            page = await call(client, "recall", subject="ann", predicate="said", cursor=cursor)
            assert len(json.dumps(page)) < 5_000
            facts, cursor = facts + page["facts"], page.get("next_cursor")
        assert [entry["object"][:3] for entry in facts] == [f"{number:03}" for number in range(300)]
        (long,) = (await call(client, "recall", subject="ann", predicate="wrote"))["facts"]
        assert long["object"].endswith(" … and 49200 more characters")
        assert len((await call(client, "why", **long))["grounds"]) == 1

    run_session(session, path)


def test_an_endless_query_blocks_no_other_call(path: Path) -> None:
    with EventLog.open(path) as log:
        log.extend_lines([(3, f"A <urn:s{n}> <urn:p> <urn:o{n}> .") for n in range(300)])

    async def session(client: Any) -> None:
        ended: list[str] = []

        async def ask() -> None:
            assert "did not end" in await refused(client, "sparql", sparql=ENDLESS)
            ended.append("query")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.sleep(0.2)
            await call(client, "who_knew", fact="party")
            ended.append("who_knew")
        assert ended == ["who_knew", "query"]

    run_session(session, path, "--timeout", 3)


def test_a_second_writer_says_why_it_cannot_write_and_tries_again(path: Path) -> None:
    async def session(client: Any) -> None:
        about = await call(client, "about")
        assert about["writable"] is False
        assert "another writer has this log open" in about["note"]
        refusal = await refused(client, "remember", **fact("ann", "likes", "gold"))
        named = re.search(r"process (\d+)", refusal)  # some file systems do not say
        assert named is None or named[1] == str(os.getpid())
        assert "another writer has this log open" in refusal
        Memory(log).believe(V.jennifer, V.party, told_by=V.sam)
        assert (await call(client, "about"))["last_tick"] == 3
        log.close()
        await call(client, "remember", **fact("ann", "likes", "gold"))
        about = await call(client, "about")
        assert (about["writable"], about["last_tick"], "note" in about) == (True, 4, False)

    with EventLog.open(path) as log:
        run_session(session, path, "--write")


class Wire:
    """A client of `substrate mcp` that does not use the protocol's library: a message is a line."""

    def __init__(self, *arguments: object) -> None:
        self.process = subprocess.Popen(
            [*START, *map(str, arguments)], stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True, encoding="utf-8"
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.ask("initialize", HANDSHAKE)
        self.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)

    def send(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def reply(self) -> Any:
        return json.loads(self._lines.get(timeout=20))

    def ask(self, method: str, params: dict[str, Any], number: int = 1) -> Any:
        self.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        return self.reply()

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]

    def close(self) -> tuple[int, str]:
        """Close the server's standard input; return its exit code and its standard error."""
        assert self.process.stdin
        assert self.process.stderr
        self.process.stdin.close()
        errors = self.process.stderr.read()
        return self.process.wait(20), errors


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[Wire]:
    talk = Wire(tmp_path / "new.rdfp", "--write")
    yield talk
    assert talk.close() == (0, "")


NO_IDS = ("1.5", "null", "true", "[]", "{}")
# Lines, each with the code of its error and the id in the reply: ``None`` if the line has no usable id.
MALFORMED = [
    ("{", -32700, None),
    ("\ufffd", -32700, None),
    ('{"jsonrpc":"2.0","id":4,"method":"ping","params":{"n":NaN}}', -32700, None),
    ("[]", -32600, None),
    ('"ping"', -32600, None),
    ('{"jsonrpc":"1.0","id":4,"method":"ping"}', -32600, 4),
    ('{"id":"four","method":"ping"}', -32600, "four"),
    ('{"jsonrpc":"2.0","id":4}', -32600, 4),
    *((f'{{"jsonrpc":"2.0","id":{wrong},"method":"ping"}}', -32600, None) for wrong in NO_IDS),
    ('[{"jsonrpc":"2.0","id":4,"method":"ping"}]', -32600, None),
    ('{"jsonrpc":"2.0","id":4,"method":7}', -32600, 4),
    ('{"jsonrpc":"2.0","id":4,"method":"ping","params":[1]}', -32600, 4),
    ('{"jsonrpc":"2.0","id":4,"method":"ping","params":{"text":"cut \\ud83d"}}', -32600, 4),
    ('{"jsonrpc":"2.0","id":"\\ud83d","method":"ping"}', -32600, None),
    ('{"jsonrpc":"2.0","id":4,"method":"no/such"}', -32601, 4),
]


def test_a_malformed_message_gets_the_error_that_the_protocol_asks_for(wire: Wire) -> None:
    for line, code, number in MALFORMED:
        wire.send(line)
        reply = wire.reply()
        assert (reply["error"]["code"], reply["id"]) == (code, number), line
    assert wire.ask("ping", {}, 5)["id"] == 5, "it still serves"


@pytest.mark.parametrize("ending", ["\n", ""])
def test_each_call_of_a_client_that_closes_its_end_is_answered(path: Path, ending: str) -> None:
    calls = [
        ("sparql", {"sparql": ENDLESS}),
        ("about", {}),
        *[("remember", fact("a", "b", n)) for n in range(9)],
    ]
    calls = [("tools/call", {"name": name, "arguments": given}) for name, given in calls]
    sent: list[Any] = [("initialize", HANDSHAKE), *calls, ("ping", {})]
    lines = [{"jsonrpc": "2.0", "id": n, "method": name, "params": p} for n, (name, p) in enumerate(sent)]
    # The call with the id 1, the endless query, is cancelled.
    lines.insert(4, {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    text = "\n".join(map(json.dumps, lines)) + ending
    command = [*START, str(path), "--write", "--timeout", "2"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    replies = {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}
    assert sorted(replies) == [n for n in range(len(sent)) if n != 1], "the cancelled call alone has no reply"
    assert not any("error" in reply for reply in replies.values())


def test_a_number_that_json_cannot_hold_is_refused(wire: Wire) -> None:
    wire.send(
        '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"remember","arguments":'
        '{"subject":"ann","predicate":"age","object":1e400}}}'
    )
    refusal = wire.reply()["result"]
    assert refusal["isError"]
    assert "object" in refusal["content"][0]["text"]
    assert wire.call("about")["structuredContent"]["deltas"] == 0


def test_an_infinite_number_in_a_log_is_given_as_its_term(tmp_path: Path) -> None:
    with EventLog.open(tmp_path / "a.rdfp") as log:
        Memory(log).observe(V.ann, V.age, float("inf"))
    (entry,) = Desk(tmp_path / "a.rdfp").call("recall", {"subject": "ann"})["facts"]
    assert entry["object"] == {"term": '"INF"^^<http://www.w3.org/2001/XMLSchema#double>'}


def test_a_forgetting_names_what_it_withdrew_and_no_more(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "a.rdfp", write=True)
    rain, hall = fact("town", "has", "rain"), fact("picnic", "in", "hall")
    made = desk.call("remember", {**rain, "author": "ann"})
    desk.call("remember", {**rain, "author": "bo"})
    desk.call("remember", {**hall, "because": made["record"]})
    assert "withdrawn" not in desk.call("forget", {**rain, "author": "ann"}), "Bo says so as well"
    assert desk.call("forget", {**rain, "author": "bo"})["withdrawn"] == [hall]
    desk.close()


def test_a_text_beyond_the_limit_is_refused(wire: Wire) -> None:
    for argument in ("subject", "object", "author"):
        refusal = wire.call("remember", **{**fact("ann", "likes", "gold"), argument: "x" * 10_000_000})
        assert refusal["isError"]
        assert f"{argument}: " in refusal["content"][0]["text"]
        assert "SUBSTRATE_LIMITS" in refusal["content"][0]["text"]
    assert wire.call("about")["structuredContent"]["deltas"] == 0


def test_a_client_that_closes_its_end_in_mid_call_leaves_no_traceback(path: Path) -> None:
    server = subprocess.Popen([*START, str(path)], stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True)
    assert server.stdin
    assert server.stdout
    first = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HANDSHAKE}
    server.stdin.write(json.dumps(first) + "\n")
    server.stdin.flush()
    assert server.stdout.readline()
    server.stdout.close()
    for number in (2, 3):  # the first reply finds the pipe closed, the second would find it broken
        request = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "about"}}
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
    _, errors = server.communicate(timeout=30)
    assert (server.returncode, errors) == (0, "")


def test_a_log_that_is_not_there_is_an_error_to_a_reader(tmp_path: Path) -> None:
    command = [*START, str(tmp_path / "none.rdfp")]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "none.rdfp" in done.stderr
    assert "--write" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_name_has_one_normal_form(tmp_path: Path) -> None:
    composed, decomposed = "Jos\u00e9", "Jose\u0301"
    talk = Wire(tmp_path / "new.rdfp", "--write")
    talk.call("remember", **fact(composed, "caf\u00e9", "cr\u00e8me"), author="Zo\u00e9")
    again = talk.call("remember", **fact(decomposed, "cafe\u0301", "cre\u0300me"), author="Zoe\u0301")
    assert "new_names" not in again["structuredContent"]
    (text, same) = talk.call("recall", subject=decomposed)["structuredContent"]["facts"]
    assert text["by"] == same["by"] == ["Zo\u00e9"]
    assert [text["object"], same["object"]] == ["cre\u0300me", "cr\u00e8me"], "a text is kept to the letter"
    assert talk.close() == (0, "")


def test_a_time_of_a_call_is_read_by_the_grammar_of_xsd(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "a.rdfp", write=True)
    visit = {"subject": "caesar", "predicate": "at", "object": "theatre"}
    desk.call(
        "remember", {**visit, "valid_from": "-0044-03-15T12:00:00Z", "valid_until": "1999-12-31T24:00:00Z"}
    )
    times = {"1999-12-31T23:59:59.9999999Z": 1, "2000-01-01T00:00:00Z": 0, "-0044-03-14T24:00:00Z": 0}
    for at, count in times.items():
        assert len(desk.call("recall", {"subject": "caesar", "at": at})["facts"]) == count, at
    for at in ("2000-01-01 00:00:00Z", "2000-01-01T00:00:00", "2000-W01-1T00:00:00Z", "soon"):
        with pytest.raises(ParameterError, match=r"^at: .* is no time with a zone"):
            desk.call("recall", {"at": at})
