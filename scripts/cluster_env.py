"""Packs the Python environment of Spark's workers: an interpreter, and the packages that they import.

    python scripts/cluster_env.py build/cluster-env.tar.gz

The code's imports determine the packages. An executor unpacks the archive and needs no Python of its own. The
archive lacks the project's code, which a session sends, and pyspark, which executors have already.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import sys
import sysconfig
import tarfile
import tempfile
import time
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distribution, packages_distributions
from pathlib import Path

import grimp
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGES = ("orchestration", "research", "substrate")
SENDS = ("orchestration.spark.answers", "orchestration.lineage.explain")
"""The modules that send work to executors; the modules that import them have the functions that run there."""
DRIVER = "dagster"
"""A package that the driver alone has; a module that reaches it has no function that a worker runs."""
DECLARES = "orchestration.registry"
"""The module that declares the functions of a case."""
FROM_SPARK = {"pyspark", "py4j"}
LEFT_OUT = (
    "site-packages",
    "test",
    "idlelib",
    "ensurepip",
    "tkinter",
    "turtledemo",
    "__pycache__",
    "config-*",
)
"""The parts of the standard library that no worker needs."""
LAUNCHER = """#!/bin/sh
# The interpreter finds its library and its packages from where it was unpacked.
here=$(cd "$(dirname "$0")/.." && pwd)
export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" PYTHONHOME="$here"
# Named, since the interpreters of some distributions do not look there.
for packages in "$here"/lib/python*/site-packages; do
    export PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}$packages"
done
exec "$here/bin/python.real" "$@"
"""


def imported() -> set[str]:
    """The top-level modules of third parties that a worker may import."""
    graph = grimp.build_graph(
        *PACKAGES, include_external_packages=True, exclude_type_checking_imports=True, cache_dir=None
    )
    modules = set[str]()
    importing = (module for sends in SENDS for module in graph.find_modules_that_directly_import(sends))
    for module in {*SENDS, DECLARES, *importing}:
        reached = {name.partition(".")[0] for name in graph.find_upstream_modules(module)}
        if DRIVER not in reached:
            modules |= reached
    return modules - {*PACKAGES, *sys.stdlib_module_names}


def distributions(modules: Iterable[str]) -> Iterator[Distribution]:
    """The distributions of some modules and all that these need, each once, by name; without Spark's own."""
    of_module = packages_distributions()
    todo = [name for module in modules for name in of_module.get(module, ())]
    by_name: dict[str, Distribution] = {}
    while todo:
        name = canonicalize_name(todo.pop())
        if name in by_name or name in FROM_SPARK:
            continue
        by_name[name] = distribution(name)
        for line in by_name[name].requires or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                todo.append(needed.name)
    return (by_name[name] for name in sorted(by_name))


def lay_out(folder: Path) -> list[str]:
    """Write the environment to a folder; return the names and versions of its packages."""
    library, base = f"lib/python{sys.version_info[0]}.{sys.version_info[1]}", Path(sys.base_prefix)
    (folder / "bin").mkdir(parents=True)
    shutil.copytree(base / library, folder / library, ignore=shutil.ignore_patterns(*LEFT_OUT))
    shutil.copy(os.path.realpath(sys.executable), folder / "bin/python.real")
    (folder / "bin/python").write_text(LAUNCHER, "utf-8")
    (folder / "bin/python").chmod(0o755)
    shared = Path(sysconfig.get_config_var("LIBDIR") or "") / str(sysconfig.get_config_var("INSTSONAME"))
    if re.search(r"\.so(\.|$)", shared.name) and shared.is_file():
        shutil.copy(shared, folder / "lib" / shared.name)
    packages = folder / library / "site-packages"
    named = list[str]()
    for package in distributions(imported()):
        named.append(f"{canonicalize_name(package.name)}=={package.version}")
        for file in package.files or ():
            # Files outside site-packages are console scripts bound to this environment: leave them out.
            if ".." not in file.parts and "__pycache__" not in file.parts:
                place = packages / file
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(str(package.locate_file(file)), place)
    return named


def pack(folder: Path, archive: Path) -> None:
    """Pack a folder as a tar.gz, at once or not at all; equal files give equal bytes."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    part = archive.with_name(f"{archive.name}.part")
    with (
        part.open("wb") as raw,
        gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=3, mtime=0, filename="") as data,
        tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                tar.add(path, path.relative_to(folder).as_posix(), filter=_bare)
    part.replace(archive)


def _bare(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.mtime = info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mode = 0o755 if info.mode & 0o100 else 0o644
    return info


def main() -> None:
    """Write the archive, and print its packages and its size."""
    archive, began = Path(sys.argv[1]), time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "environment"
        named = lay_out(folder)
        unpacked = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        pack(folder, archive)
    seconds, size = time.monotonic() - began, archive.stat().st_size
    sys.stdout.write(f"{', '.join(named)}\n")
    sys.stdout.write(f"{archive}: {size / 2**20:.0f} MiB, {unpacked / 2**20:.0f} unpacked, {seconds:.0f} s\n")


if __name__ == "__main__":
    main()
