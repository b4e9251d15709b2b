"""`substrate log …`: the auditor's tools, as a user runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from clevrer_scenes import filmed_log
from logs import PREFIXES, log_of, unfolded
from typer.testing import CliRunner, Result

from substrate import Assert, Delta, EventLog, Op, fork
from substrate.cli.log import log_app
from substrate.cli.printing import print_exactly

runner = CliRunner()
# A query whose answer counts the sixth power of the number of triples.
CROSS = "SELECT (COUNT(*) AS ?n) { " + " . ".join(f"?a{i} ?b{i} ?c{i}" for i in range(6)) + " }"


def run(*arguments: object, code: int = 0) -> Result:
    result = runner.invoke(log_app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def read(*arguments: object, code: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", code=code).stdout)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    unfolded("village", until=13)[1].save(tmp_path / "village.rdfp.gz")
    return tmp_path / "village.rdfp.gz"


def test_show_prints_digest_size_and_deltas(file: Path) -> None:
    log = EventLog.read(file)
    result = read("show", file, "--from", 2, "--to", 4)
    assert (result["digest"], result["deltas"], result["last_tick"]) == (log.digest, len(log), log.last_tick)
    assert {delta["tick"] for delta in result["shown"]} == {2, 4}
    assert result["shown"][0]["position"] == log.position(1)
    # Six lines about the log come before the deltas.
    assert len(run("show", file, "--to", 0).stdout.splitlines()) == 6 + log.position(0)


def test_state_and_query_at_a_tick(file: Path) -> None:
    log = EventLog.read(file)
    assert run("state", file, "--tick", 3).stdout == log.state(3).nquads()
    assert read("state", file, "--tick", 3)["digest"] == log.state(3).digest
    who = "SELECT ?who WHERE { ?who :knows entity:party }"
    assert run("query", file, who, "--tick", 3, "--tbox", "village").stdout.splitlines() == [
        "?who",
        "<urn:village:isabella>",
        "<urn:village:john>",
    ]
    rows = read("query", file, who, "--tbox", "village")["results"]["bindings"]
    assert {"who": {"type": "uri", "value": "urn:village:sam"}} in rows
    assert run("query", file, "ASK { <urn:village:ann> ?p ?o }").stdout == "false\n"
    assert run("query", file, "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o } LIMIT 2").stdout.count("\n") == 2


def test_history_names_intervals_and_deltas(file: Path) -> None:
    histories = read("history", file, "entity:isabella", ":at", "-", "--tbox", "village")
    assert [(h["triple"].rsplit(":", 1)[1], h["intervals"]) for h in histories] == [
        ("cafe>", [[0, 2], [5, None]]),
        ("market>", [[2, 5]]),
    ]
    log = EventLog.read(file)
    assert all(log[c["position"]].tick == c["tick"] for h in histories for c in h["changes"])
    text = run("history", file, "urn:village:isabella", "urn:substrate:village:at").stdout
    assert "tick     2  retract" in text


def test_a_scene_is_forked_with_its_simulator(tmp_path: Path) -> None:
    scene, branch = tmp_path / "scene.rdfp", tmp_path / "branch.rdfp"
    filmed_log([(0, 1, 30)]).save(scene)
    cube = ("urn:clevrer:7:object:0", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", ":Object")
    options = ("--retract", *cube, "--motion", "--tbox", "clevrer")
    assert read("fork", scene, "--at", 30, *options, "--out", branch)["branch_tick"] == 30
    run("verify", branch, "--parent", scene, "--tbox", "clevrer")
    query = "SELECT ?number WHERE { ?object :simulated true ; :number ?number }"
    assert '"1"' in run("query", branch, query, "--tbox", "clevrer").stdout


def test_several_interventions_are_done_in_their_order(tmp_path: Path) -> None:
    steps = ((0, "A", "home"), (5, "D", "home"), (5, "A", "cafe"))
    log = log_of((tick, f"{op} <urn:ann> <urn:at> <urn:{place}> .") for tick, op, place in steps)
    log.save(tmp_path / "log.rdfp")
    to = [f"override-location urn:ann urn:{place} urn:at" for place in ("park", "pub")]
    command = ["fork", tmp_path / "log.rdfp", "--at", 3, "--out", tmp_path / "branch.rdfp"]
    made = read(*command, "--do", to[0], "--do", to[1], "--do", 'assert urn:ann urn:says "two  words"@en')
    state = EventLog.read(tmp_path / "branch.rdfp").state()
    assert state.texts() == {"<urn:ann> <urn:at> <urn:pub>", '<urn:ann> <urn:says> "two  words"@en'}
    assert [delta["triple"] for delta in made["withheld"]] == ["<urn:ann> <urn:at> <urn:cafe>"]
    assert "takes ENTITY PLACE" in run(*command, "--do", "override-location urn:ann", code=1).stderr


def test_a_fork_is_written_verified_and_compared(file: Path, tmp_path: Path) -> None:
    before, branch = file.read_bytes(), tmp_path / "branch.rdfp"
    knowing = ["entity:john", "entity:party", "--predicate", ":knows", "--rules", "village"]
    made = read("fork", file, "--at", 6, "--retract-awareness", *knowing, "--out", branch)
    assert file.read_bytes() == before
    assert (made["parent"], made["branch_tick"]) == (EventLog.read(file).digest, 6)
    assert read("verify", branch, "--parent", file)["faults"] == []
    arms = read("diff", file, "--with", branch, code=1)
    assert arms[0]["tick"] == 6
    assert any("telling:8:john:sam" in d["triple"] for tick in arms for d in tick["a"])
    assert not any("telling:8:john:sam" in d["triple"] for tick in arms for d in tick["b"])
    assert "tick 8" in run("diff", file, "--with", branch, code=1).stdout
    run("diff", file, "--with", file)
    last = tmp_path / "again.rdfp"
    again = read("fork", branch, "--at", 7, "--assert-awareness", *knowing, "--out", last)
    assert again["parent"] == made["digest"]
    assert read("verify", last, "--parent", file, code=1)["faults"]


@pytest.fixture
def branches(file: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Two branches of the village: in each, Sam goes to another place, and another agent sings."""
    log = EventLog.read(file)
    at = log.last_tick + 1
    made: list[Path] = []
    for place, who in (("cafe", "klaus"), ("market", "maria")):
        branch = fork(log, at)
        branch.extend_lines(
            [
                (at, f"A <urn:village:{who}> <urn:v:sings> <urn:v:loud> ."),
                (at + 1, f"D {SAM} {AT} <urn:village:park> ."),
                (at + 1, f"A {SAM} {AT} <urn:village:{place}> ."),
            ]
        )
        branch.save(tmp_path / f"{place}.rdfp")
        made.append(tmp_path / f"{place}.rdfp")
    return made[0], made[1]


SAM, AT = "<urn:village:sam>", "<urn:substrate:village:at>"


def test_branches_are_merged_and_conflicts_are_decided_by_choice(
    file: Path, branches: tuple[Path, Path], tmp_path: Path
) -> None:
    a, b = branches
    out = tmp_path / "both.rdfp"
    assert read("merge", a, b)["conflicts"] == [], "without a TBox an agent may have two places"
    stopped = run("merge", a, b, "--tbox", "village", "--out", out, code=1)
    assert stopped.stdout.startswith(f"conflict 1: {SAM} {AT}: one branch says D <urn:village:park> at tick")
    assert "Give --choose 1=a or 1=b" in stopped.stderr
    assert not out.exists()
    (conflict,) = read("merge", a, b, "--functional", AT, code=1)["conflicts"]
    log = EventLog.read(a)
    assert (conflict["subject"], conflict["object"], conflict["counts"]) == (SAM, None, None)
    assert all(log[delta["position"]].tick == delta["tick"] for delta in conflict["a"])
    for choice, place in ((("--prefer", "a"), "cafe"), (("--prefer", "a", "--choose", "1=b"), "market")):
        made = read("merge", a, b, "--tbox", "village", *choice, "--out", out)
        both = EventLog.read(out)
        assert (made["digest"], made["parent"]) == (both.digest, EventLog.read(file).digest)
        assert (made["base"], made["deltas"]) == (len(EventLog.read(file)), len(both))
        assert both.state().query(f"ASK {{ {SAM} {AT} <urn:village:{place}> }}")
        assert not both.state().query(f"ASK {{ {SAM} {AT} <urn:village:park> }}")
        assert both.state().query("ASK { ?a <urn:v:sings> ?x . ?b <urn:v:sings> ?x FILTER(?a != ?b) }")
    run("verify", out, "--parent", file)


def test_verify_finds_each_fault(file: Path, tmp_path: Path) -> None:
    log = EventLog.read(file)
    run("verify", file, "--digest", log.digest, "--tbox", "village")
    assert read("verify", file, "--digest", "sha256:00", code=1)["faults"] == [f"the digest is {log.digest}"]
    plain = tmp_path / "plain.rdfp"
    text = log.to_patch()
    plain.write_text(text.replace("told> <urn:village:party>", "told> <urn:village:partx>", 1), "utf-8")
    assert "tick 2" in run("verify", plain, code=1).stderr
    plain.write_text(text[:-9], "utf-8")
    assert "cut off" in run("verify", plain, code=1).stdout
    log.extend_lines([(14, "A <urn:village:sam> <urn:substrate:village:knows> <urn:village:cafe> .")])
    log.save(plain)
    text = run("verify", plain, "--tbox", "village", code=1).stdout
    assert "knows what is no fact (introduced at tick 14)" in text


def test_exports_are_read_back(file: Path, tmp_path: Path) -> None:
    log = EventLog.read(file)
    assert run("export", file).stdout == log.to_patch()
    assert run("export", file, "--format", "nquads", "--tick", 3).stdout == log.state(3).nquads()
    for form in ("patch", "turtle", "nquads"):
        run("export", file, "--format", form, "--out", tmp_path / "out", "--tbox", "village")
        again = tmp_path / "back.rdfp"
        made = read("import", tmp_path / "out", "--format", form, "--out", again, "--tick", 5)
        back = EventLog.read(again)
        assert back.digest == made["digest"]
        assert back.state().nquads() == log.state().nquads()
        assert (back.digest == log.digest) == (form == "patch")


FORK = "fork FILE --at 3 --out OUT"


def nested(start: str, innermost: str) -> str:
    """A triple term of 20,000 triple terms, each the object of the one around it."""
    return f"<<( {start} " * 20000 + innermost + " )>>" * 20000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["query", "FILE", "SELECT"], "not SPARQL"),
        (f"{FORK} --retract urn:a urn:b urn:c", "does not hold"),
        (f"{FORK} --motion", "no pose to simulate from"),
        (f"{FORK} --retract urn:a urn:b urn:c --assert urn:a urn:b urn:c", "more than one intervention"),
        (["query", "FILE", "ASK { SERVICE <urn:x> {} }"], "would reach the network"),
        (["query", "FILE", "SELECT * { ?a ?b ?c . ?d ?e ?f }", "--limit", "99"], "more than 99 rows"),
        (["query", "FILE", CROSS, "--timeout", "0.8"], "did not end within 0.8 seconds"),
        (["history", "FILE", nested("<urn:a> <urn:b>", "<urn:c>")], "inside one another"),
    ],
)
def test_a_wrong_input_ends_with_exit_1_and_a_message(
    file: Path, tmp_path: Path, arguments: list[str] | str, message: str
) -> None:
    given = arguments.split() if isinstance(arguments, str) else arguments
    names = {"FILE": str(file), "OUT": str(tmp_path / "out.rdfp")}
    result = run(*(names.get(a, a) for a in given), code=1)
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert not (tmp_path / "out.rdfp").exists()


ENDLESS = """
:r a sh:SPARQLRule ;
    sh:construct "CONSTRUCT { ?a :n ?g } WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }" .
"""


def test_the_rules_of_a_tbox_are_limited_in_time_too(file: Path, tmp_path: Path) -> None:
    tbox, out = tmp_path / "endless.ttl", tmp_path / "branch.rdfp"
    tbox.write_text(f"{PREFIXES}@prefix : <urn:t:> .{ENDLESS}", "utf-8")
    result = run("fork", file, "--at", 3, "--rules", tbox, "--timeout", 1.5, "--out", out, code=1)
    assert "did not end within 1.5 seconds" in result.stderr
    assert not out.exists()


SUSPECT = f"""{PREFIXES}@prefix : <urn:t:> .
:near a owl:ObjectProperty ; rdfs:subPropertyOf core:location .
:r a sh:SPARQLRule ; sh:construct "CONSTRUCT {{ ?a :near ?b }} WHERE {{ ?b :near ?a }}" .
"""


def test_likely_mistakes_in_a_tbox_are_reported(file: Path, tmp_path: Path) -> None:
    tbox = tmp_path / "suspect.ttl"
    tbox.write_text(SUSPECT, "utf-8")
    warnings = run("fork", file, "--at", 3, "--rules", tbox, "--out", tmp_path / "branch.rdfp").stderr
    assert "warning: suspect: rule r: gives <urn:t:near> whenever its condition holds" in warnings
    assert "warning: suspect" in run("verify", file, "--tbox", tbox).stderr
    tbox.write_text(SUSPECT.replace("core:location", "core:locatoin"), "utf-8")
    assert "the core has no term 'locatoin'" in run("verify", file, "--tbox", tbox, code=1).stderr
    tbox.write_text(SUSPECT + ":s :near <<( :a :near :b )>> .", "utf-8")
    assert "its shapes cannot be read" in run("verify", file, "--tbox", tbox, code=1).stderr


def test_a_nested_triple_term_in_a_file_is_an_error(tmp_path: Path) -> None:
    deep = f"A <urn:s> <urn:p> {nested('<urn:s> <urn:p>', '<urn:o>')} ."
    path = tmp_path / "deep.rdfp"
    path.write_text(f"TX .\n{deep}\nTC .\n", "utf-8")
    assert "inside one another" in run("import", path, "--out", tmp_path / "out.rdfp", code=1).stderr
    assert "another program" in run("show", path, code=1).stderr
    path.write_text(deep[2:], "utf-8")
    for form in ("nquads", "turtle"):
        result = run("import", path, "--format", form, "--out", tmp_path / "out.rdfp", code=1)
        assert "inside one another" in result.stderr


def test_bad_usage_ends_with_exit_2(file: Path) -> None:
    run("show", code=2)
    run("export", file, "--format", "rdfxml", code=2)


def test_text_of_a_log_sends_a_terminal_no_control_characters(tmp_path: Path) -> None:
    file, other = tmp_path / "log.rdfp", tmp_path / "other.rdfp"
    line = 'A <urn:a> <urn:says> "\x9b31mred \u202egnirts \\u001B[2J" .'
    log = log_of([(0, "A <urn:b> <urn:c> <urn:d> ."), (1, line)])
    log.save(file)
    assertion = Assert((ox.NamedNode("urn:a"), ox.NamedNode("urn:says"), ox.Literal("\x9b1m")))
    fork(log, at=1, emitter=None, intervention=assertion).save(other)
    for command, *more in (
        *(["show"], ["state"], ["history"], ["diff", 0, 1], ["query", "SELECT ?o { ?s ?p ?o }"]),
        *(["diff", "--with", other], ["merge", other, "--functional", "<urn:says>"]),
        ["query", "CONSTRUCT WHERE { ?s ?p ?o }"],
    ):
        for form in ([], ["--json"]):
            called = runner.invoke(log_app, [str(argument) for argument in (command, file, *more, *form)])
            assert called.exit_code in (0, 1), called.output
            assert not {"\x1b", "\x9b", "\u202e"} & set(called.output), (command, form)
            if command in ("show", "state", "query", "history"):
                assert "\\u009b31mred \\u202egnirts" in called.stdout


def test_an_export_is_exact_and_yet_sends_a_terminal_no_control_characters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = log_of([(0, 'A <urn:a> <urn:says> "\x9b31mred" .')])
    print_exactly(log.to_patch())
    assert capsys.readouterr().out == log.to_patch()
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    print_exactly(log.to_patch())
    assert "\x9b" not in capsys.readouterr().out


@pytest.mark.parametrize("command", [("fork", "--at", 2), ("export", "--format", "nquads"), ("import",)])
def test_no_command_writes_over_the_log_that_it_reads(command: tuple[object, ...], file: Path) -> None:
    before = file.read_bytes()
    assert "is read by this command" in run(*command, file, "--out", file, code=1).output
    assert file.read_bytes() == before


def test_output_is_utf8_in_any_locale_and_streams_may_be_closed(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.log"))
    with EventLog.open(path) as log:
        log.append(Delta(1, Op.INSERT, (ox.NamedNode("urn:a"), ox.NamedNode("urn:b"), ox.Literal("é"))))

    def substrate(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
        script = "from substrate.cli.launcher import main; main()"
        command = [sys.executable, "-c", script, "log", *arguments, str(path)]
        environment = os.environ | {"PYTHONIOENCODING": "ascii"}
        return subprocess.run(command, env=environment, capture_output=True, check=False, **options)

    shown = substrate("show")
    assert (shown.returncode, "é".encode() in shown.stdout) == (0, True), shown.stderr
    assert json.loads(substrate("verify", "--json").stdout)["file"] == str(path)
    assert substrate("show", preexec_fn=lambda: os.closerange(0, 3)).returncode == 0
