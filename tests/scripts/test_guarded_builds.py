"""The container is built on images named by hash and runs as a user; an audit that was not made fails."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


def test_every_image_is_named_by_a_hash_that_must_be_given() -> None:
    lines = (ROOT / "deploy/Dockerfile").read_text("utf-8").splitlines()
    assert [line for line in lines if line.startswith("FROM")] == ["FROM python@${PYTHON_DIGEST}"]
    assert "ARG PYTHON_DIGEST" in lines, "without a default"
    services = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))["services"]
    for name, service in services.items():
        image = service.get("image") or service["build"]["args"]["PYTHON_DIGEST"]
        assert re.search(r"\$\{\w+_DIGEST:\?", image), name


def test_the_container_runs_as_a_user_without_rights() -> None:
    lines = (ROOT / "deploy/Dockerfile").read_text("utf-8").splitlines()
    assert [line for line in lines if line.startswith("USER")] == ["USER substrate"]
    assert lines[-1] == "USER substrate"
    services = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))["services"]
    for service in services.values():
        if "build" in service:
            assert service["cap_drop"] == ["ALL"]
            assert service["security_opt"] == ["no-new-privileges:true"]


@pytest.mark.parametrize(
    ("output", "ends", "code"),
    [
        ("No known vulnerabilities found", 0, 0),
        ("Found 1 known vulnerability", 1, 1),
        ("requests.exceptions.ConnectionError: Max retries exceeded", 1, 2),
        ("a (1.0): Dependency not found on the service and could not be audited", 0, 2),
    ],
)
def test_an_audit_that_was_not_made_fails(output: str, ends: int, code: int, tmp_path: Path) -> None:
    tool = tmp_path / "uv"
    tool.write_text(f"#!/bin/sh\necho '{output}'\nexit {ends}\n", "utf-8")
    tool.chmod(0o755)
    command = ["sh", str(ROOT / "scripts/audit.sh"), str(tmp_path)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == code
