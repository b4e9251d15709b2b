"""The UI as a researcher meets it: a real browser, a project with something to make, one click.

The system's Chromium is driven; nothing is downloaded. With SCREENSHOTS=FOLDER in the environment the pages
are also pictured there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import browsing
import httpx
import pytest
import yaml
from dagster_graphql import DagsterGraphQLClient
from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect
from projects import ONE_WORKER
from serving import serving
from spark_cluster import free_port

from orchestration.dagster.keys import EVERY, box_of

ROOT = Path(__file__).resolve().parents[2]
SECOND = 1000
# Ends a run that hangs, or a server that does not start; one that works takes a fraction of it.
PATIENCE = 1800 * SECOND
# The same limit for an element of a page that needs no run.
SOON = 90 * SECOND
pytestmark = pytest.mark.long
SIZE: ViewportSize = {"width": 1440, "height": 900}
GROUPS = ("babi", "clevrer", "comphy", "gqa", "twin", "ablations", "perceived", "results")


def end(server: subprocess.Popen[bytes]) -> None:
    """End a server with all its children: politely, then by force; none is left."""
    for kill, patience in ((signal.SIGINT, 5), (signal.SIGKILL, 10)):
        try:
            os.killpg(server.pid, kill)
            server.wait(patience)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


@pytest.fixture(scope="module")
def project(unchanged_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pinned project without a record of runs and without GQA's scores."""
    root = tmp_path_factory.mktemp("ui") / "project"
    shutil.copytree(unchanged_project, root, symlinks=True)
    for score in (*root.glob("artifacts/sample/scores/gqa.*"), root / "artifacts/sample/metrics/gqa.json"):
        score.unlink()
    for record in ("history", "schedules", "storage"):
        shutil.rmtree(root / ".dagster" / record)
    return root


@pytest.fixture(scope="module")
def server(project: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """`substrate ui` on the project, started as scripts start jobs in the background; its address first."""
    root = project
    port = free_port()
    environment = {key: value for key, value in os.environ.items() if key != "CI"} | ONE_WORKER
    environment |= {"DAGSTER_HOME": str(root / ".dagster"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "orchestration.cli.main", "ui", "--port", str(port)]
    with (root / "server.log").open("wb") as log:
        server = subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        )
    try:
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + PATIENCE / SECOND
        while not answers(url):
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.fail((root / "server.log").read_text("utf-8"))
            time.sleep(0.5)
        assert f"{url}/asset-groups" in (root / "server.log").read_text("utf-8")
        yield url, server
    finally:
        end(server)


@pytest.fixture
def address(server: tuple[str, subprocess.Popen[bytes]]) -> str:
    """The address of the UI."""
    return server[0]


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/server_info", timeout=5) as response:
            return response.status == 200
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(scope="module")
def page(server: tuple[str, subprocess.Popen[bytes]], browser: Browser) -> Iterator[Page]:
    """A page of a Chromium with an empty profile; at the end, no script and no response may have failed."""
    errors: list[str] = []
    opened = browser.new_page(viewport=SIZE, base_url=server[0])
    opened.set_default_timeout(SOON)
    expect.set_options(timeout=SOON)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on(
        "response",
        lambda response: (
            errors.append(f"{response.status} {response.url}") if response.status >= 500 else None
        ),
    )
    yield opened
    opened.close()
    assert not errors


def picture(page: Page, name: str) -> None:
    browsing.picture(page, name, colours=200, wait=2 * SECOND)


def box_link(page: Page, box: str) -> Locator:
    """The link of a list to an asset. Its text is cut in the middle where the column is narrow."""
    return page.locator(f'a[href="/assets/{box}"]')


NODES = "{assetNodes {assetKey {path} groupName dependencyKeys {path}}}"


def test_the_asset_graph_names_every_group_and_box_and_has_every_edge(page: Page) -> None:
    page.goto("/asset-groups")
    for group in GROUPS:
        expect(page.get_by_text(group, exact=True).first).to_be_visible()
    nodes = ask(page, NODES, {})["assetNodes"]
    boxes = Counter((node["groupName"], node["assetKey"]["path"][-1]) for node in nodes)
    assert set(boxes.values()) == {1}
    assert max(Counter(group for group, _ in boxes).values()) <= 12
    reads = {
        node["assetKey"]["path"][0]: node["dependencyKeys"]
        for node in nodes
        if len(node["assetKey"]["path"]) == 1
    }
    for name, stage in EVERY.items():
        assert {key["path"][-1] for key in reads[box_of(name)]} == {*map(box_of, stage.needs)}
    page.goto("/locations/substrate/asset-groups/clevrer/list")
    for box in ("clevrer_dataset", "clevrer_logs", "clevrer_answers", "clevrer_scores"):
        expect(box_link(page, box)).to_be_visible()
    # The browser parses this selection itself, so a query to the server would not show that it works.
    page.goto('/assets?asset-selection=kind:"bullet"')
    expect(page.get_by_text("Materialize selected")).to_be_visible()
    expect(box_link(page, "clevrer_dataset")).to_be_visible()
    expect(box_link(page, "clevrer_scores")).to_have_count(0)


REFUSED = (
    {"profile": "nope"},
    {"set": {"bad.key": 1}},
    {"overrides": ["seed=1"]},
    {"set": {"spark.config": {"spark.driver.extraJavaOptions": "-XX:OnOutOfMemoryError=id"}}},
    {"set": {"storage": "file:///tmp"}},
    {"set": {"seed": -1}},
)


def test_the_form_of_a_job_offers_every_key_and_refuses_a_wrong_value_before_a_run(page: Page) -> None:
    page.goto("/locations/substrate/jobs/reproduce_clevrer/playground")
    for field in ("profile", "set", "experiment", "force"):
        expect(page.locator(".CodeMirror-line").get_by_text(field, exact=True)).to_be_visible()
    type_over(page, "profile: sample", "profile: nope")
    refused = re.compile("not in enum type .*sample.* got nope")
    expect(page.get_by_text(refused).first).to_be_visible()
    expect(page.get_by_role("button", name="Launch Run")).to_be_disabled()
    type_over(page, "profile: nope", "profile: sample")
    expect(page.get_by_text("No errors")).to_be_visible()
    type_over(page, "set: {}", "set:")
    page.keyboard.press("Enter")
    page.keyboard.type("  clevrer.pre")
    page.keyboard.press("Control+Space")
    expect(page.locator(".CodeMirror-hints").get_by_text("clevrer.predictive.tau")).to_be_visible()
    picture(page, "form")
    answer = dict[str, Any]()
    for form in REFUSED:
        answer = launched(page, "reproduce_gqa", form)
        assert answer["__typename"] in ("RunConfigValidationInvalid", "PythonError"), answer
    message = "set: seed: Expected `int` >= 0, not -1. Compare with the comments in params.yaml."
    assert answer == {"__typename": "PythonError", "message": message, "stack": [], "cause": None}
    assert ask(page, "{runsOrError {... on Runs {count}}}", {})["runsOrError"] == {"count": 0}


def type_over(page: Page, line: str, text: str) -> None:
    """Write another line in the form."""
    page.locator(".CodeMirror-line", has_text=line).click()
    page.keyboard.press("Home")
    page.keyboard.press("Shift+End")
    page.keyboard.type(text)
    page.keyboard.press("Escape")


def ask(page: Page, query: str, variables: dict[str, Any]) -> dict[str, Any]:
    """The server's answer to a query of its page."""
    data, origin = {"query": query, "variables": variables}, page.url.partition("/locations")[0]
    response = page.request.post("/graphql", data=data, headers={"Origin": "/".join(origin.split("/")[:3])})
    return response.json()["data"]


LAUNCH = """mutation ($params: ExecutionParams!) {launchPipelineExecution(executionParams: $params) {
  __typename ... on LaunchRunSuccess {run {runId}} ... on PythonError {message stack cause {message}}}}"""


def launched(page: Page, job: str, form: dict[str, Any], **selection: Any) -> dict[str, Any]:
    """The outcome of launching a job: a run, or why there is none."""
    selector = {
        "repositoryLocationName": "substrate",
        "repositoryName": "__repository__",
        "pipelineName": job,
        **selection,
    }
    config = {"resources": {"workspace": {"config": form}}} if form else {}
    params = {"selector": selector, "runConfigData": json.dumps(config), "mode": "default"}
    return ask(page, LAUNCH, {"params": params})["launchPipelineExecution"]


ATTACK = Path(__file__).with_name("attack.html")


def test_a_page_of_another_origin_is_refused_and_starts_nothing(
    page: Page, address: str, tmp_path: Path
) -> None:
    mutation = (
        'mutation {launchPipelineExecution(executionParams: {selector: {repositoryLocationName: "substrate",'
        ' repositoryName: "__repository__", pipelineName: "reproduce_gqa"}, mode: "default"}) {__typename}}'
    )
    text = ATTACK.read_text("utf-8").replace("QUERY", json.dumps(mutation))
    (tmp_path / "index.html").write_text(text.replace("SERVER", json.dumps(address)), "utf-8")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with serving(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as elsewhere:
        stranger = page.context.browser.new_page()  # pyright: ignore[reportOptionalMemberAccess]
        replies: list[tuple[int, str]] = []
        complaints: list[str] = []
        stranger.on("console", lambda message: complaints.append(message.text))
        stranger.on("response", lambda reply: replies.append((reply.status, reply.url)))
        stranger.goto(f"http://127.0.0.1:{elsewhere.server_address[1]}/")
        expect(stranger.locator("#said")).not_to_be_empty(timeout=60 * SECOND)
        attempts = json.loads(stranger.locator("#said").inner_text())
        stranger.close()
    failed = "TypeError: Failed to fetch"
    # Each attempt of `attack.html`, with what its script could read: nothing, or that the request failed.
    unread = {"trick": "no words", "plain": "no words"}
    assert attempts == unread | {"json": failed, "get": failed, "socket": "closed 1006"}
    assert any("frame-ancestors 'none'" in line for line in complaints), complaints
    statuses = [status for status, url in replies if url.startswith(f"{address}/graphql")]
    assert statuses, "the server refuses, and not the browser alone"
    assert set(statuses) == {403}
    page.goto("/runs")
    assert ask(page, "{runsOrError {... on Runs {count}}}", {})["runsOrError"] == {"count": 0}


def test_one_click_makes_the_missing_results_of_the_sample(page: Page) -> None:
    page.goto("/jobs")
    page.get_by_text("reproduce_sample", exact=True).first.click()
    page.get_by_role("button", name="Materialize all").click()
    page.get_by_role("link", name="View", exact=True).or_(
        page.get_by_role("button", name="View", exact=True)
    ).first.click()
    page.wait_for_url("**/runs/*")
    watch_to_success(page)
    picture(page, "run")
    page.goto("/asset-groups")
    expect(page.get_by_text("results", exact=True).last).to_be_visible()
    expect(page.get_by_text("fetching statuses")).to_have_count(0)
    picture(page, "graph")
    page.set_viewport_size({"width": 1200, "height": 860})
    page.goto("/assets/clevrer_scores?view=lineage&lineageScope=upstream")
    for stage in ("dataset", "answers", "scores"):
        expect(page.get_by_text(f"clevrer_{stage}", exact=True).last).to_be_visible()
    expect(page.get_by_text("Materialized")).to_have_count(3)
    picture(page, "benchmark")
    page.set_viewport_size(SIZE)
    page.goto("/locations/substrate/asset-groups/clevrer/list")
    for stage in ("dataset", "logs", "answers", "scores"):
        expect(box_link(page, f"clevrer_{stage}")).to_be_visible()


def test_an_asset_shows_its_table_and_its_checks(page: Page) -> None:
    page.goto("/assets/tables_clevrer")
    expect(page.get_by_role("cell", name="descriptive per-question", exact=True)).to_be_visible()
    expect(page.get_by_text("reproduction", exact=True).first).to_be_visible()
    page.goto("/assets/tables_clevrer?view=events")
    expect(page.get_by_role("cell", name="descriptive per-question", exact=True)).to_be_visible()
    picture(page, "asset")
    page.goto("/assets/clevrer_answers")
    for name in ("result", "by subset", "accuracy"):
        expect(page.get_by_role("cell", name=name, exact=True).first).to_be_visible()
    page.goto("/assets/gqa_scores")
    link = page.get_by_role("link", name="by_id/accuracy").first
    assert page.request.get(link.get_attribute("href") or "").status == 200
    preview = page.get_by_role("cell", name="gqa/by_id/accuracy").last
    preview.scroll_into_view_if_needed()
    expect(preview).to_be_visible()
    page.goto("/assets/gqa_scores?view=checks")
    for check in ("counts", "drift"):
        expect(page.get_by_text(check, exact=True).first).to_be_visible()
    expect(page.get_by_text("Succeeded", exact=True)).to_have_count(2)


LATEST = """query ($key: AssetKeyInput!) {assetOrError(assetKey: $key) {
  ... on Asset {assetMaterializations(limit: 1) {runId}}}}"""


def test_an_experiment_runs_and_is_not_the_latest_value_of_its_asset(page: Page) -> None:
    def latest() -> Any:
        return ask(page, LATEST, {"key": {"path": ["gqa_scores"]}})

    before = latest()
    form = {"profile": "sample", "set": {"profiles.sample.gqa.scenes": 1}}
    succeed(page, launched(page, "reproduce_gqa", form))
    assert latest() == before


def succeed(page: Page, launch: dict[str, Any]) -> None:
    """Open the page of a launched run, and watch the run to its end."""
    page.goto(f"/runs/{launch['run']['runId']}")
    watch_to_success(page)


ENDED = ("SUCCESS", "FAILURE", "CANCELED")
STATUS = "query ($id: ID!) {runOrError(runId: $id) {... on Run {status}}}"


def watch_to_success(page: Page) -> None:
    """Wait until the run of the open page has ended, and read on the page that it succeeded.

    The page of a run draws all the time. Until the end another is open, so that the run has the processors.
    """
    run, deadline = page.url, time.monotonic() + PATIENCE / SECOND
    page.goto("/server_info")
    while (status := ask(page, STATUS, {"id": run.rpartition("/")[2]})["runOrError"]["status"]) not in ENDED:
        assert time.monotonic() < deadline, status
        time.sleep(0.5)
    page.goto(run)
    ended = page.get_by_text("Success", exact=True).or_(page.get_by_text("Failure", exact=True)).first
    expect(ended).to_be_visible()
    assert ended.inner_text() == "Success"


def test_the_check_of_a_drifted_result_shows_rows_cause_and_report(page: Page, project: Path) -> None:
    parameters = yaml.safe_load((project / "params.yaml").read_text("utf-8"))
    parameters["clevrer"]["counterfactual"]["method"] = "printed"
    (project / "params.yaml").write_text(yaml.safe_dump(parameters), "utf-8")
    key = {"path": ["clevrer_answers"]}
    check = {"assetKey": key, "name": "drift"}
    form = {"profile": "sample"}
    # The check is a warning, so the run succeeds.
    succeed(page, launched(page, "__ASSET_JOB", form, assetSelection=[key], assetCheckSelection=[check]))
    page.goto("/assets/clevrer_answers?view=checks&checkDetail=drift")
    expect(page.get_by_text("This is a non-blocking asset check")).to_be_visible()
    expect(page.get_by_text(re.compile("[0-9]+ rows? differs?: scene "))).to_be_visible()
    expect(page.get_by_role("cell", name="(counterfactual)").first).to_be_visible()
    because = 'parameter clevrer.counterfactual.method "partner" -> "printed" (clevrer/answers)'
    expect(page.get_by_role("cell", name=because)).to_be_visible()
    expect(page.get_by_role("link", name="report_html")).to_be_visible()
    picture(page, "drift")


def test_a_program_is_answered_and_the_server_ends_when_told(
    server: tuple[str, subprocess.Popen[bytes]],
) -> None:
    """The last test here, without a browser."""
    address, process = server
    assert httpx.get(f"{address}/server_info", headers={"host": "evil.example"}).status_code == 400
    query, graphql = {"query": "{version}"}, f"{address}/graphql"
    assert httpx.post(graphql, json=query, headers={"origin": "http://evil.example"}).status_code == 403
    for headers in ({}, {"origin": address}):
        assert "data" in httpx.post(graphql, json=query, headers=headers).json()
    client = DagsterGraphQLClient("127.0.0.1", port_number=int(address.rpartition(":")[2]))
    assert client.reload_repository_location("substrate").status.value == "SUCCESS"
    process.terminate()
    assert process.wait(30) == 0
