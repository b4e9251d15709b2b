"""The environment of Spark on this machine, and a diagnosis of its Java if no session starts."""

from __future__ import annotations

import os
import re
import resource
import subprocess

from orchestration.base.java import java_program
from substrate.base.errors import SubstrateError

# The oldest Java that can run Spark.
OLDEST = 17
# Environment variables that point to another Spark or change how it starts.
_OF_OTHERS = ("SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_PYTHON", "PYSPARK_SUBMIT_ARGS")
# The number of open files that Spark and its workers need.
_FILES = 4096


def own_environment() -> None:
    """Make sessions on this machine use this environment's Spark, with enough open files."""
    for name in _OF_OTHERS:
        os.environ.pop(name, None)
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _FILES and soft != resource.RLIM_INFINITY:
        most = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def java_fault() -> SubstrateError | None:
    """The fault that keeps this machine's Java from running Spark; ``None`` if there is none."""
    where, java = java_program()
    hint = f"Install Java {OLDEST} or newer, and let JAVA_HOME name it; `sh scripts/java.sh` says how"
    if not java or not os.access(java, os.X_OK):
        return SubstrateError("Java not found", where=where, hint=hint)
    try:
        started = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        return SubstrateError(f"Java does not start ({error})", where=where, hint=hint)
    lines = (started.stdout + started.stderr).splitlines()
    if started.returncode:
        reason = next((line for line in lines if "Error" in line), lines[0] if lines else "no word")
        return SubstrateError(f"Java does not start: {reason}", where=where, hint="Mend what Java names")
    version = next(filter(None, (re.search(r'version "(?:1\.)?(\d+)', line) for line in lines)), None)
    if version and int(version[1]) < OLDEST:
        return SubstrateError(f"Java {version[1]} is too old", where=where, hint=hint)
    return None
