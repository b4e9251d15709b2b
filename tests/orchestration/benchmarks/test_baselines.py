"""Every baseline with a server, from transcript to rows: a recorded run replays without the server, byte for
byte.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
import yaml
from clevrer_scenes import annotation, filmed_log, question
from commands import invoke
from model_server import KEY, model_server, some_answer, text_of
from villages import write_specs

from orchestration.base import http
from orchestration.benchmarks.baselines import Inputs, LanguageModel, Pictures, pictures_in, pictures_of
from orchestration.dagster.instance import instance
from orchestration.dagster.resources import WorkspaceResource
from orchestration.dagster.run import RunError, run_stages
from orchestration.models import asking
from orchestration.models.asking import Part
from orchestration.models.client import Endpoint, ModelError
from orchestration.models.exchange import Answerer, Records, address
from orchestration.models.transcript import Replay, TranscriptError, read_transcript
from orchestration.registry import BENCHMARKS
from orchestration.stages.graph import stages_of
from substrate.base.errors import FormatError
from substrate.baselines.parameters import Baseline, Parameters
from substrate.domains.rows import Row, encode
from substrate.generators.gqa import write as write_gqa
from substrate.log.event_log import EventLog

ROOT = Path(__file__).resolve().parents[3]
GQA_IMAGES = 3
MODELS = [name for name, benchmark in BENCHMARKS.items() if isinstance(benchmark, LanguageModel)]


@pytest.fixture(autouse=True)
def _no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "sleep", lambda _: None)


class Data(NamedTuple):
    """A few cases of all data that a baseline asks about."""

    data: Path
    logs: dict[str, EventLog]
    parameters: Parameters
    pictures: Pictures

    def parts(self, name: str, pictures: Pictures | None = None) -> list[Part]:
        model = BENCHMARKS[name]
        assert isinstance(model, LanguageModel)
        source = model.source
        cases = source.cases(source.files(self.data / source.name), None, True).each
        inputs = Inputs(cases, self.logs.__getitem__, "generated", pictures or self.pictures)
        return model.parts(inputs, getattr(self.parameters, name))

    def with_changed(self, **baselines: Baseline) -> Data:
        """The same data, with other parameters of some baselines."""
        return self._replace(parameters=msgspec.structs.replace(self.parameters, **baselines))


def make_inputs(root: Path, *, n: int = 6, concurrency: int = 3) -> Data:
    data = root / "data"
    write_specs(data / "twin" / "specs.jsonl", 8)
    questions, logs = [], {}
    annotations = data / "clevrer" / "annotation"
    annotations.mkdir(parents=True)
    for scene in (7, 8):
        text = json.dumps(annotation([(0, 1, 30)], scene=scene))
        (annotations / f"annotation_{scene:05d}.json").write_text(text, "utf-8")
        logs[f"{scene:05d}"] = filmed_log([(0, 1, 30)], scene=scene)
        descriptive = [
            question("objects count", "4", number=number)
            | {"question": f"{number}: how many objects are there?"}
            for number in range(5)
        ]
        choices = question("objects count", kind="explanatory", number=9, choices=[("events", "wrong")])
        questions.append({"scene_index": scene, "questions": [*descriptive, choices]})
    (data / "clevrer" / "questions.json").write_text(json.dumps(questions), "utf-8")
    write_gqa(data / "gqa", scenes=GQA_IMAGES, seed=1)
    (root / "photographs").mkdir()
    for image in range(GQA_IMAGES):
        (root / "photographs" / f"{image}.jpg").write_bytes(b"\xff\xd8 picture %d" % image)
    settings = {"concurrency": concurrency, "attempts": 6} | {name: {"model": "m", "n": n} for name in MODELS}
    parameters = msgspec.convert(settings, Parameters)
    return Data(data, logs, parameters, pictures_in(root / "photographs"))


def record(name: str, server: Endpoint, transcript: Path, given: Data) -> int:
    """Ask for a baseline's replies, and keep them in a transcript; return the number of requests."""
    baseline = getattr(given.parameters, name)
    return asking.record(given.parts(name), baseline, given.parameters, server, transcript)


def replay(name: str, records: Records, given: Data) -> list[Row]:
    parts = given.parts(name, pictures_of(records))
    return asking.ask_parts(parts, Replay(records, getattr(given.parameters, name)))


@pytest.fixture
def inputs(tmp_path: Path) -> Data:
    return make_inputs(tmp_path)


def in_bytes(name: str, transcript: Path, inputs: Data) -> bytes:
    return b"\n".join(encode(row) for row in replay(name, read_transcript(transcript), inputs))


@pytest.mark.parametrize("name", MODELS)
def test_a_recorded_run_replays_without_the_server_and_without_the_photographs(
    name: str, inputs: Data, tmp_path: Path
) -> None:
    transcript = tmp_path / "kept" / f"{name}.jsonl"
    with model_server(some_answer, "429:3", "hang up", "500", "broken") as server:
        requests = record(name, Endpoint(server.url, KEY), transcript, inputs)
        # Four requests met one of the faults above, and were sent again.
        assert requests == len(read_transcript(transcript)) == len(server.bodies) - 4
        assert record(name, Endpoint(server.url, KEY), transcript, inputs) == 0
    alone = make_inputs(tmp_path / "alone", concurrency=1)
    with model_server(some_answer, "off") as server:
        record(name, Endpoint(server.url), tmp_path / "alone.jsonl", alone)
    same = transcript.read_bytes() == (tmp_path / "alone.jsonl").read_bytes()
    assert same, "neither threads nor faults change a byte"
    for photograph in (tmp_path / "photographs").iterdir():
        photograph.unlink()
    rows = replay(name, read_transcript(transcript), inputs)
    assert [(str(row.scene), str(row.question)) for row in rows] == sorted(
        (str(row.scene), str(row.question)) for row in rows
    )
    # Six are asked of each benchmark; a specification of Twin has two arms.
    assert len(rows) == (12 if name.startswith("twin") else 6)
    assert {row.benchmark for row in rows} == {name}
    assert all(
        row.expected is not None
        and row.correct is (row.predicted == row.expected)
        and row.log.startswith("sha256:")
        for row in rows
    )
    assert in_bytes(name, transcript, inputs) == in_bytes(name, transcript, inputs)
    assert {path.name for path in transcript.parent.iterdir()} == {transcript.name, f"{name}.took.json"}
    assert all(
        (record.reply.by.model, record.reply.by.fingerprint, record.reply.prompt_tokens) == ("m", "b1", 7)
        for record in read_transcript(transcript).values()
    )


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_never_keeps_to_the_schema_is_wrong_and_stops_nothing(
    name: str, inputs: Data, tmp_path: Path
) -> None:
    transcript = tmp_path / "kept.jsonl"
    with model_server(lambda _: "As a language model, I cannot.") as server:
        record(name, Endpoint(server.url), transcript, inputs)
    rows = replay(name, read_transcript(transcript), inputs)
    assert {(row.predicted, row.correct) for row in rows} == {("error", False)}
    assert all("not what was asked for" in str(row.error) for row in rows)


KILLED = """
import sys
from functools import partial
from pathlib import Path
sys.path[:0] = ["tests/support", "tests/orchestration/benchmarks"]
from test_baselines import make_inputs, record
from orchestration.models.client import endpoint
root = Path(sys.argv[1])
record("twin_direct", endpoint(), root / "twin_direct.jsonl", make_inputs(root, concurrency=1))
"""


def test_a_killed_run_resumes_and_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    killed: list[subprocess.Popen[bytes]] = []

    def deadly(body: dict[str, Any]) -> str:
        if len(server.bodies) == 4:
            os.kill(killed[0].pid, signal.SIGKILL)
        return some_answer(body)

    with model_server(deadly) as server:
        environment = os.environ | {
            "SUBSTRATE_MODEL_URL": server.url,
            "SUBSTRATE_MODEL_KEY": KEY,
            "PYTHONPATH": str(ROOT),
        }
        killed.append(
            subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path / "run")], cwd=ROOT, env=environment)
        )
        assert killed[0].wait(60) == -signal.SIGKILL
        unfinished = tmp_path / "run" / "twin_direct.partial.jsonl"
        assert len(unfinished.read_bytes().splitlines()) == 3
        assert not (tmp_path / "run" / "twin_direct.jsonl").exists()
        unfinished.write_bytes(unfinished.read_bytes() + b'{"address": "sha256:torn')
        server.bodies += [{}]  # so that nobody is killed again
        inputs = make_inputs(tmp_path / "again")
        resumed, whole = tmp_path / "run" / "twin_direct.jsonl", tmp_path / "whole.jsonl"
        assert record("twin_direct", Endpoint(server.url, KEY), resumed, inputs) == 12 - 3
        assert record("twin_direct", Endpoint(server.url, KEY), whole, inputs) == 12
    assert resumed.read_bytes() == whole.read_bytes()


def test_a_model_that_answers_under_another_name_is_refused_unless_it_is_allowed(
    inputs: Data, tmp_path: Path
) -> None:
    transcript = tmp_path / "kept.jsonl.gz"
    with model_server(some_answer, says={"model": "totally-other-model"}) as server:
        with pytest.raises(ModelError, match=r"m was asked.* totally-other-model answered.*answers_as"):
            record("controlled", Endpoint(server.url), transcript, inputs)
        assert read_transcript(transcript) == {}
        allowed = Baseline("m", 6, answers_as="totally-other-model")
        record("controlled", Endpoint(server.url), transcript, inputs.with_changed(controlled=allowed))
    models = {exchange.reply.by.model for exchange in read_transcript(transcript).values()}
    assert models == {"totally-other-model"}


def test_a_server_that_names_its_weights_must_have_the_revision(inputs: Data, tmp_path: Path) -> None:
    tags = ["sha256:aa", "server:xllamacpp 1"]
    models = {"data": [{"id": "m", "owned_by": "llamacpp", "tags": tags, "meta": {"ftype": "Q4_1"}}]}
    lists = {"/v1/models": models}
    other, same = (
        inputs.with_changed(controlled=Baseline("m", 6, revision=revision))
        for revision in ("sha256:bb", "sha256:aa")
    )
    transcript = tmp_path / "same.jsonl"
    with model_server(some_answer, lists=lists) as server:
        with pytest.raises(ModelError, match=r"weights sha256:bb, and the server has sha256:aa"):
            record("controlled", Endpoint(server.url), tmp_path / "other.jsonl", other)
        record("controlled", Endpoint(server.url), transcript, same)
    answerers = {exchange.reply.by for exchange in read_transcript(transcript).values()}
    assert answerers == {Answerer("m", "b1", "xllamacpp 1", "Q4_1", "sha256:aa")}
    assert all(body["cache_prompt"] is False for body in server.bodies)


def test_asking_less_or_more_drops_no_reply_that_was_kept(inputs: Data, tmp_path: Path) -> None:
    transcript = tmp_path / "twin_direct.jsonl.gz"

    def with_n(n: int) -> Data:
        return inputs.with_changed(twin_direct=msgspec.structs.replace(inputs.parameters.twin_direct, n=n))

    with model_server(some_answer) as server:
        record("twin_direct", Endpoint(server.url), transcript, with_n(5))
        five = read_transcript(transcript)
        assert record("twin_direct", Endpoint(server.url), transcript, with_n(2)) == 0
        assert read_transcript(transcript) == five
        record("twin_direct", Endpoint(server.url), transcript, with_n(8))
    eight = read_transcript(transcript)
    assert five.items() < eight.items()
    assert len(replay("twin_direct", eight, with_n(2))) == 4
    view = asking.view(with_n(2).parts("twin_direct"), with_n(2).parameters.twin_direct, eight)
    assert view.items() < five.items()


def test_a_twentieth_is_asked_twice(tmp_path: Path) -> None:
    given = make_inputs(tmp_path, n=8)
    transcript = tmp_path / "kept.jsonl"
    with model_server(some_answer) as server:
        record("twin_concordia", Endpoint(server.url), transcript, given)
    exchanges = read_transcript(transcript)
    twice = [exchange for exchange in exchanges.values() if "again" in exchange.request]
    assert 0.02 < len(twice) / len(exchanges) < 0.1
    for exchange in twice:
        first = {key: value for key, value in exchange.request.items() if key != "again"}
        assert exchanges[address(first)].reply == exchange.reply


@pytest.mark.parametrize("name", [name for name in MODELS if name.startswith("twin")])
def test_a_request_that_does_not_fit_is_a_row_with_its_reason_and_the_run_goes_on(
    name: str, inputs: Data, tmp_path: Path
) -> None:
    transcript = tmp_path / "kept.jsonl"
    with model_server(some_answer) as server:
        record(name, Endpoint(server.url), tmp_path / "all.jsonl", inputs)
    # With this context all requests fit but the longest.
    *_, second_longest, _ = sorted({len(text_of(body)) for body in server.bodies})
    with model_server(some_answer, context=1) as small:
        record(name, Endpoint(small.url), transcript, inputs)
        assert {row.predicted for row in replay(name, read_transcript(transcript), inputs)} == {"error"}
        small.context = second_longest
        record(name, Endpoint(small.url), transcript, inputs)
        rows = replay(name, read_transcript(transcript), inputs)
        errors = [str(row.error) for row in rows if row.predicted == "error"]
        assert 0 < len(errors) < len(rows)
        assert all("does not fit into the context" in error for error in errors)
        small.context = None
        record(name, Endpoint(small.url), transcript, inputs)
    again = replay(name, read_transcript(transcript), inputs)
    assert again == replay(name, read_transcript(tmp_path / "all.jsonl"), inputs)


def test_an_edited_transcript_and_another_model_s_are_refused(inputs: Data, tmp_path: Path) -> None:
    transcript = tmp_path / "kept.jsonl"
    with model_server(some_answer) as server:
        record("controlled", Endpoint(server.url), transcript, inputs)
    other = inputs.with_changed(controlled=Baseline("m", 6, revision="another"))
    with pytest.raises(TranscriptError, match="has no answer to request sha256:"):
        replay("controlled", read_transcript(transcript), other)
    whole = transcript.read_bytes()
    for before, after in ((b"how many objects", b"how many cubes"), (b'"stop"', b'"length"')):
        transcript.write_bytes(whole.replace(before, after, 1))
        with pytest.raises(FormatError, match=r"kept\.jsonl:1: request and reply differ from the record"):
            read_transcript(transcript)


@pytest.mark.long
def test_the_pipeline_measures_with_a_server_replays_without_and_leaks_nothing(
    reproduced: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = reproduced
    monkeypatch.delenv("CI", raising=False)  # eight questions differ from the pins, which CI stops at
    set_parameters(root, controlled={"n": 8})
    answers = root / "artifacts/sample/controlled/answers.jsonl"
    scores = root / "artifacts/sample/scores/controlled.descriptive.accuracy.json"
    stages = [f"controlled/{stage}" for stage in ("dataset", "answers", "scores")]

    def run(*overrides: str, names: list[str] = stages, force: bool = False) -> dict[str, Any]:
        # Any override, even of a value by itself, keeps a run from pinning its results
        resource = WorkspaceResource(profile="sample", overrides=["seed=20", *overrides], force=force)
        run_stages(names, resource, partial(instance, root))
        return json.loads(scores.read_bytes())

    monkeypatch.delenv("SUBSTRATE_MODEL_URL", raising=False)
    score = run(names=stages_of("controlled"))
    assert (answers.read_bytes(), score["n"], score["accuracy"]) == (b"", 0, None)
    assert score["published"] == {"llama": 0.51}

    monkeypatch.setenv("SUBSTRATE_MODEL_KEY", KEY)
    with model_server(some_answer, "401") as server:
        monkeypatch.setenv("SUBSTRATE_MODEL_URL", server.url)
        with pytest.raises(RunError, match=r"controlled/dataset: .*HTTP 401.*SUBSTRATE_MODEL_KEY") as refused:
            run("baselines.concurrency=1")
        (begun,) = (root / "transcripts/sample/controlled").glob("SmolLM2-135M-Instruct.Q4_1@*.partial.jsonl")
        assert begun.read_bytes() == b""
        assert run()["n"] == 8
        first, address = answers.read_bytes(), server.url.removeprefix("http://").removesuffix("/v1")
        assert len(server.bodies) in (9, 10), "perhaps one is asked twice"

        # An experiment takes the replies along, even if the record of their times is missing.
        (took,) = (root / "transcripts/sample/controlled").glob("*.took.json")
        took.unlink()
        requests = len(server.bodies)
        fewer = WorkspaceResource(
            profile="sample", overrides=["baselines.controlled.n=4"], experiment="fewer"
        )
        run_stages(stages, fewer, partial(instance, root))
        assert len(server.bodies) == requests

    monkeypatch.delenv("SUBSTRATE_MODEL_URL")
    assert run(force=True)["n"] == 8
    assert answers.read_bytes() == first
    alone = invoke("materialize", "controlled/dataset", code=None)
    assert (alone.exit_code, "controlled/dataset" in alone.stderr) == (0, True), alone.output
    set_parameters(root, controlled={"n": 9})
    assert run()["n"] == 0, "a transcript that lacks an answer is not used"
    files = [path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()]
    everything = b"".join([*files, str(refused.value).encode()])
    assert b"no transcript of an earlier run is here" in everything, "the instance's storage is searched"
    assert KEY.encode() not in everything
    assert address.encode() not in everything


@pytest.mark.long
def test_without_photographs_nothing_is_measured_and_a_transcript_needs_none(
    make_project: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_project(scenes=1)
    monkeypatch.delenv("SUBSTRATE_MODEL_URL", raising=False)
    result = invoke("reproduce", "--tables", "--only", "gqa_vision", "--set", "seed=20")
    lines = result.stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("gqa_vision/photograph/accuracy")]
    assert "not measured" in line
    assert "69.0 %" in line

    answers = root / "artifacts/sample/gqa_vision/answers.jsonl"
    set_parameters(root, gqa_vision={"n": 5, "model": "m"})

    def run(images: str | None = None) -> bytes:
        set_parameters(root, images=images)
        run_stages(["gqa_vision/dataset", "gqa_vision/answers"], WorkspaceResource(profile="sample"))
        return answers.read_bytes()

    (root / "photographs").mkdir()
    for image in json.loads((root / "data/sample/gqa/sceneGraphs.json").read_bytes()):
        (root / "photographs" / f"{image}.png").write_bytes(b"\x89PNG")
    with model_server(some_answer) as server:
        monkeypatch.setenv("SUBSTRATE_MODEL_URL", server.url)
        assert run() == b"", "without a folder of photographs nobody is asked"
        assert server.bodies == []
        measured = run("photographs")
    assert len(measured.splitlines()) == 5
    monkeypatch.delenv("SUBSTRATE_MODEL_URL")
    assert run() == measured


def set_parameters(root: Path, **values: Any) -> None:
    """Set parameters of the baselines in `params.yaml`; a dictionary has those of one baseline."""
    parameters = yaml.safe_load((root / "params.yaml").read_text("utf-8"))
    for key, value in values.items():
        if isinstance(value, dict):
            parameters["baselines"][key] |= value
        else:
            parameters["baselines"][key] = value
    (root / "params.yaml").write_text(yaml.safe_dump(parameters), "utf-8")
