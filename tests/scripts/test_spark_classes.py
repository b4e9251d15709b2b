"""The archive of Spark's classes: one that does not fit this Java is ignored."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from orchestration.spark import session


def test_an_archive_of_another_java_is_ignored_without_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "spark-classes.jsa"
    archive.write_bytes(b"of another Java" * 1000)
    monkeypatch.setattr(session, "CLASSES", archive)
    options = session.java_options(True)
    assert any(str(archive) in option for option in options)
    done = subprocess.run(["java", *options, "-version"], capture_output=True, text=True, check=True)
    # Spark's launcher and its shell share these outputs with the command.
    assert not done.stdout
    assert "warning" not in done.stderr
