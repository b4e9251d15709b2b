"""The project's code as an archive that Spark's executors import."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from orchestration.code import PACKAGES, ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The sessions whose executors have the code, and the folders that new executors fetch it from.
_shipped: list[tuple[SparkSession, TemporaryDirectory[str]]] = []


def ship_code(session: SparkSession) -> None:
    """Send this project's code to the executors, once per session, so that they need no installation."""
    if any(session is known for known, _ in _shipped):
        return
    folder = TemporaryDirectory(prefix="substrate-")
    archive = Path(folder.name) / "substrate-code.zip"
    archive.write_bytes(code_archive())
    session.addArtifacts(str(archive), pyfile=True)
    _shipped.append((session, folder))


def code_archive() -> bytes:
    """Pack the project's packages as an importable zip; the same code gives the same bytes."""
    # Packed inside the package, as in the wheel: an imported zip has no neighbouring folder.
    named = {f"substrate/tboxes/{file.name}": file for file in (ROOT / "tboxes").glob("*.ttl")}
    for package in PACKAGES:
        files = (file for file in (ROOT / package).rglob("*") if "__pycache__" not in file.parts)
        named |= {file.relative_to(ROOT).as_posix(): file for file in files if file.is_file()}
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in sorted(named.items()):
            archive.writestr(zipfile.ZipInfo(name), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return data.getvalue()
