"""`substrate models serve` with a file of the user: a real model, and a file that is none."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from substrate.base.files import sha256
from substrate.baselines.serving import available, weights
from substrate.cli.models import models_app

pytestmark = pytest.mark.skipif(not available(), reason="the extra `models` is not installed")
ASK = """
import os, sys, urllib.request
sys.stdout.buffer.write(urllib.request.urlopen(os.environ["SUBSTRATE_MODEL_URL"] + "/models").read())
"""


def serve(*arguments: object) -> Result:
    return CliRunner().invoke(models_app, ["serve", *map(str, arguments)])


def test_a_file_is_served_under_its_own_name_and_digest(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "another.model.gguf"
    os.symlink(weights(), own)
    assert serve("--weights", own, sys.executable, "-c", ASK).exit_code == 0
    (model,) = json.loads(capfd.readouterr().out)["data"]
    assert {"another.model", sha256(own)} <= {model["id"], *model["tags"]}


def test_a_file_that_is_no_model_is_an_error_that_names_it(tmp_path: Path) -> None:
    own = tmp_path / "notes.gguf"
    own.write_text("no weights")
    result = serve("--weights", own, "true")
    assert result.exit_code == 1
    assert f"{own}: the server cannot load this model" in result.output.replace("\n", "")
