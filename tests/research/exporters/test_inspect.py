"""Twin-EventLog as a task of Inspect, run by Inspect itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from research.exporters.twin_sample import sampled

pytest.importorskip("inspect_ai")

from inspect_ai import eval as evaluate  # pyright: ignore[reportMissingImports]
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # pyright: ignore[reportMissingImports]

from research.exporters.inspect_tasks import twin_eventlog
from substrate.baselines.twin import answer_in

pytestmark = pytest.mark.filterwarnings("ignore")
COUNT = 18
METRICS = ("per_arm", "joint", "divergence")


def evaluated(
    reply: Callable[[str], str], folder: Path, count: int = COUNT
) -> tuple[Any, dict[str, dict[str, float]]]:
    """The log of a run in which a function of the question's text gives the model's reply."""

    def answer(messages: Any, *_: Any) -> Any:
        output = ModelOutput.from_content("mockllm/model", reply(messages[-1].text))
        # Else the mock counts tokens with a vocabulary from the network.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    (log,) = evaluate(
        twin_eventlog(count=count),
        model=get_model("mockllm/model", custom_outputs=answer),
        log_dir=str(folder),
        display="none",
    )
    assert log.status == "success", log.error
    scores = {s.name: {name: m.value for name, m in s.metrics.items()} for s in log.results.scores}
    return log, scores


def test_who_always_says_no_gets_what_the_gold_gives_them(tmp_path: Path) -> None:
    golds = [spec.gold for spec in sampled(COUNT, 20)]
    _, scores = evaluated(lambda text: '{"answer": "no"}', tmp_path)
    assert scores["per_arm"]["accuracy"] == sum((g.a == "no") + (g.b == "no") for g in golds) / (2 * COUNT)
    assert scores["joint"]["accuracy"] == sum(g.a == g.b == "no" for g in golds) / COUNT
    assert scores["divergence"]["accuracy"] == sum(g.a == g.b for g in golds) / COUNT
    assert {"grouped_control", "grouped_direct", "grouped_propagation"} <= set(scores["joint"])


def test_each_arm_is_asked_by_itself_and_never_sees_the_gold(tmp_path: Path) -> None:
    specs = list(sampled(COUNT, 20))
    texts: list[str] = []

    def reply(text: str) -> str:
        texts.append(text)
        return "I cannot tell."

    log, scores = evaluated(reply, tmp_path)
    assert len(texts) == 2 * COUNT
    assert sum("before anything else of that tick" in text for text in texts) == COUNT
    assert [scores[metric]["accuracy"] for metric in METRICS] == [0, 0, 0]
    assert scores["unreadable"]["accuracy"] == 1
    # The linkage and the gold are in the log for the reader, and in no question.
    assert all("propagation" not in text and "gold" not in text for text in texts)
    targets = {sample.id: tuple(sample.target) for sample in log.samples}
    assert targets == {spec.spec: spec.gold.answers for spec in specs}
    assert log.eval.metadata["canary"].startswith("twin-eventlog canary ")


def test_a_reply_is_read_as_asked_for_or_as_a_bare_word() -> None:
    answers = [answer_in(t) for t in ('Sure: {"answer": "yes"}', "No.", " YES ", "yes and no", "", "{}")]
    assert answers == ["yes", "no", "yes", "error", "error", "error"]
    assert answer_in("The answer is: no.") == "no"


def inspect_eval(folder: Path, *arguments: str) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """A run of the command without a network, and its log."""
    command = shutil.which("inspect", path=str(Path(sys.executable).parent))
    if command is None or "substrate" not in {point.name for point in entry_points(group="inspect_ai")}:
        pytest.skip("the package is not installed with its entry point")
    (folder / "sitecustomize.py").write_text("import socket\nsocket.create_connection = None\n", "utf-8")
    task = ["eval", "substrate/twin_eventlog", "--model", "mockllm/model", *arguments]
    done = subprocess.run(
        [command, *task, "--log-format", "json", "--log-dir", folder / "logs", "--display", "plain"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    (written,) = (folder / "logs").glob("*.json")
    return done, json.loads(written.read_text("utf-8"))


def test_the_command_finds_the_task_by_its_entry_point(tmp_path: Path) -> None:
    done, log = inspect_eval(tmp_path, "--limit", "10", "-T", "count=12")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (log["status"], len(log["samples"])) == ("success", 10)
    assert {score["name"] for score in log["results"]["scores"]} == {*METRICS, "unreadable"}


def test_the_command_fails_if_no_sample_was_judged(tmp_path: Path) -> None:
    # The mock fails at each sample: its outputs are letters.
    done, _ = inspect_eval(tmp_path, "-M", "custom_outputs=abc", "-T", "count=2")
    assert done.returncode == 1, done.stdout + done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "no sample of" in line]
    assert re.match(r"no sample of \S*twin_eventlog was judged: .+\. Its log: \S+json", line)
