"""The UI as a researcher meets it: a real browser, a fresh project without data, one click.

The system's Chromium is driven; nothing is downloaded. With SCREENSHOTS=FOLDER in the environment the pages
are also pictured there.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SECOND = 1000
GROUPS = ("babi", "clevrer", "comphy", "gqa", "tables")


def end(server: subprocess.Popen[bytes]) -> None:
    """End a server with all its children: politely, then by force; none is left."""
    for kill, patience in ((signal.SIGINT, 5), (signal.SIGKILL, 10)):
        try:
            os.killpg(server.pid, kill)
            server.wait(patience)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue


@pytest.fixture(scope="module")
def address(small_project: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`substrate ui` on a project that has never run."""
    root = small_project(tmp_path_factory.mktemp("ui") / "project")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {key: value for key, value in os.environ.items() if key != "CI"} | {
        "DAGSTER_HOME": str(root / ".dagster"),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "orchestration.cli.main", "ui", "--port", str(port)]
    with (root / "server.log").open("wb") as log:
        server = subprocess.Popen(
            command, cwd=root, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        found = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 120
        while not answers(found):
            if server.poll() is not None or time.monotonic() > deadline:
                pytest.fail((root / "server.log").read_text("utf-8"))
            time.sleep(0.5)
        assert f"{found}/asset-groups" in (root / "server.log").read_text("utf-8")
        yield found
    finally:
        end(server)


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/server_info", timeout=5) as response:
            return response.status == 200
    except (urllib.error.URLError, OSError):
        return False


@pytest.fixture(scope="module")
def page(address: str) -> Iterator[Page]:
    """A page of a Chromium with an empty profile, which has seen no error when the tests are over."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("no Chromium on this machine: `sh scripts/chromium.sh` installs it, or says how")
    errors: list[str] = []
    with sync_playwright() as playwright:
        # Chromium refuses its sandbox to root.
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        opened = browser.new_page(viewport={"width": 1280, "height": 800}, base_url=address)
        opened.set_default_timeout(60 * SECOND)
        expect.set_options(timeout=60 * SECOND)
        opened.on("pageerror", lambda error: errors.append(str(error)))
        opened.on(
            "response",
            lambda response: (
                errors.append(f"{response.status} {response.url}") if response.status >= 500 else None
            ),
        )
        yield opened
        browser.close()
    assert not errors


def picture(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        page.wait_for_timeout(2 * SECOND)
        # 64 colours: a third of the size, and nobody sees it.
        Image.open(io.BytesIO(page.screenshot())).convert("RGB").quantize(64).save(
            Path(folder) / f"{name}.png", optimize=True
        )


def test_the_asset_graph_shows_every_group(page: Page) -> None:
    page.goto("/asset-groups")
    for group in GROUPS:
        expect(page.get_by_text(group, exact=True).first).to_be_visible()
    # What is typed there is parsed in the browser, so the server's parser is not asked.
    page.goto('/assets?asset-selection=kind:"bullet"')
    expect(page.get_by_text("Materialize selected")).to_be_visible()
    expect(page.get_by_role("link", name="clevrer / dataset").first).to_be_visible()
    expect(page.get_by_role("link", name="clevrer / scores")).to_have_count(0)


def test_one_click_reproduces_the_sample_on_a_project_without_data(page: Page) -> None:
    page.goto("/jobs")
    page.get_by_text("reproduce_sample", exact=True).first.click()
    page.get_by_role("button", name="Materialize all").click()
    page.get_by_role("link", name="View", exact=True).or_(
        page.get_by_role("button", name="View", exact=True)
    ).first.click()
    page.wait_for_url("**/runs/*")
    ended = page.get_by_text("Success", exact=True).or_(page.get_by_text("Failure", exact=True)).first
    expect(ended).to_be_visible(timeout=400 * SECOND)
    picture(page, "run")
    assert ended.inner_text() == "Success"
    page.goto("/locations/substrate/asset-groups/clevrer/lineage")
    expect(page.get_by_text("answers", exact=True).first).to_be_visible()
    picture(page, "graph")
    page.goto("/locations/substrate/asset-groups/clevrer/list")
    for stage in ("dataset", "logs", "answers", "scores"):
        expect(page.get_by_role("link", name=f"clevrer / {stage}").first).to_be_visible()


def test_an_asset_shows_its_table_its_plot_and_its_checks(page: Page) -> None:
    page.goto("/assets/tables/clevrer")
    expect(page.get_by_role("cell", name="descriptive per-question", exact=True)).to_be_visible()
    expect(page.get_by_text("reproduction", exact=True).first).to_be_visible()
    page.get_by_role("row", name="plot").get_by_text("Show Markdown").click()
    drawn = page.get_by_role("img", name="plot", exact=True)
    expect(drawn).to_be_visible()
    assert drawn.evaluate("image => image.naturalWidth") > 300
    page.goto("/assets/tables/clevrer?view=events")
    expect(page.get_by_role("cell", name="descriptive per-question", exact=True)).to_be_visible()
    picture(page, "asset")
    page.goto("/assets/clevrer/scores")
    preview = page.get_by_role("cell", name="clevrer/descriptive/per_question").last
    preview.scroll_into_view_if_needed()
    expect(preview).to_be_visible()
    page.goto("/assets/clevrer/scores?view=checks")
    for check in ("agreement", "counts", "drift"):
        expect(page.get_by_text(check, exact=True).first).to_be_visible()
    expect(page.get_by_text("Succeeded", exact=True)).to_have_count(3)
    expect(page.get_by_text("not compared: generated data").first).to_be_visible()
