"""The versions that a stage ran with: of Python, Java and the packages that its code imports."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path

from orchestration.base.java import java_program
from orchestration.code import ROOT, packages_of
from substrate.base.files import sha256

LOCK = "requirements.lock"
# The distributions whose names differ from their packages.
_DISTRIBUTIONS = {"PIL": "pillow", "yaml": "PyYAML"}


@cache
def lock_hash() -> str:
    """Return the SHA-256 of the environment's lock file; empty if there is none."""
    path = ROOT / LOCK
    return sha256(path) if path.is_file() else ""


def environment_of(code: Mapping[str, str]) -> dict[str, str]:
    """Return the installed versions of Python and of the packages that ``code`` imports, and the hash of the
    lock file, which lists the expected versions. If Spark is imported, Java's version is included.
    """
    packages = packages_of(code)
    versions = {name: version for name in sorted(packages) if (version := _version(name))}
    java = {"Java": java_version()} if "pyspark" in packages else {}
    return {"Python": platform.python_version(), **java, LOCK: lock_hash(), **versions}


@cache
def _version(package: str) -> str:
    """Return the installed version of the distribution that provides a package; empty if none does."""
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(_DISTRIBUTIONS.get(package, package))
    return ""


@cache
def java_version() -> str:
    """Return the version of the Java that runs Spark, from the runtime's file; empty if the file lacks it."""
    _, program = java_program()
    with suppress(OSError, IndexError):
        release = Path(program).resolve(strict=True).parents[1] / "release"
        version = re.search(r'^JAVA_VERSION="(.*)"', release.read_text("utf-8"), re.MULTILINE)
        return version[1] if version else ""
    return ""
