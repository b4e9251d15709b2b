"""The packed environment of workers runs a case, with nothing of this machine's Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pyspark

from orchestration.spark.shipped_code import code_archive

ROOT = Path(__file__).resolve().parents[3]
SPARKS_OWN = Path(pyspark.__path__[0]) / "python" / "lib"
A_CASE = """
import sys
import orchestration.stages.study_stages, orchestration.spark.all_logs
from orchestration.registry import SOURCES
for name in ("clevrer", "gqa"):
    (world,) = SOURCES[name].world
    assert world.make(10000, 20, SOURCES[name].data())
loaded = {getattr(module, "__file__", None) for module in list(sys.modules.values())} - {None}
print(sys.prefix, *sorted(file for file in loaded if not file.startswith(tuple(sys.argv[1:]))))
"""


def test_a_case_runs_in_the_packed_environment() -> None:
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import cluster_env  # pyright: ignore[reportMissingImports]
    finally:
        sys.path.pop(0)
    with TemporaryDirectory(prefix="substrate-") as scratch:
        home, code = Path(scratch) / "environment", Path(scratch) / "substrate-code.zip"
        code.write_bytes(code_archive())
        packages = cluster_env.lay_out(home)
        paths = [*map(str, [home, code]), *map(str, sorted(SPARKS_OWN.glob("*.zip")))]
        done = subprocess.run(
            [home / "bin/python", "-c", A_CASE, *paths],
            env={"PYTHONPATH": ":".join(paths[1:])},
            cwd=scratch,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == str(home)
    assert not [name for name in packages if name.startswith(("pyspark", "dagster", "dvc"))]
