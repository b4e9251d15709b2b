"""A standalone Spark cluster of processes on loopback, whose machines share no more files than real ones.

Every machine is a process group in a mount namespace of its own. There the checkout and the project are
empty folders; the Python environment's packages and one shared folder are all that is left of them.
"""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyspark
from projects import QUICK_JAVA

SPARK = Path(pyspark.__path__[0])
# Seconds that a machine may take to come up.
STARTING = 900


def why_not() -> str:
    """Why this machine cannot give a process a mount namespace; empty where it can."""
    try:
        tried = subprocess.run(["unshare", "-m", "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "there is no unshare(1)"
    return f"unshare -m is not allowed: {tried.stderr.strip()}" if tried.returncode else ""


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def isolated(command: Sequence[str], hidden: Iterable[Path], scratch: Path) -> list[str]:
    """A command in a mount namespace where some folders are empty, but for the Python environment in them.

    Args:
        hidden: the folders.
        scratch: an empty folder of this command's own.
    """
    environment, mounted = Path(sys.prefix), scratch / "environment"
    mounted.mkdir(parents=True, exist_ok=True)
    lines = ["set -e", "mount --make-rprivate /"]
    for folder in hidden:
        inside = environment.is_relative_to(folder)
        if inside:
            lines.append(f"mount --bind {shlex.quote(str(environment))} {shlex.quote(str(mounted))}")
        lines.append(f"mount -t tmpfs none {shlex.quote(str(folder))}")
        if inside:
            lines.append(f"mkdir -p {shlex.quote(str(environment))}")
            lines.append(f"mount --bind {shlex.quote(str(mounted))} {shlex.quote(str(environment))}")
    lines.append(f"cd / && exec {shlex.join(command)}")
    return ["unshare", "-m", "sh", "-c", "\n".join(lines)]


@dataclass
class Machine:
    """A running process group, and where it says what it does."""

    process: subprocess.Popen[bytes]
    log: Path

    def kill(self) -> None:
        """End it at once, with all that it started."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def wait_for(self, text: str) -> None:
        """Wait until its log has a text."""
        deadline = time.monotonic() + STARTING
        while text not in (log := self.log.read_text("utf-8", "replace")):
            assert self.process.poll() is None, f"it ended:\n{log[-3000:]}"
            assert time.monotonic() < deadline, f"{text!r} was never said:\n{log[-3000:]}"
            time.sleep(0.1)


@dataclass
class Cluster:
    """A master and its workers; ``pages`` is the port of the master's pages."""

    folder: Path
    hidden: tuple[Path, ...]
    master: str = ""
    pages: int = 0
    workers: list[Machine] = field(default_factory=list)
    leader: Machine = field(init=False)
    stack: ExitStack = field(default_factory=ExitStack)

    def start(self, name: str, command: Sequence[str], **environment: str) -> Machine:
        """A machine that runs a command of Spark's."""
        scratch = self.folder / name
        (scratch / "local").mkdir(parents=True)
        log = scratch / "log"
        own = {
            "SPARK_HOME": str(SPARK),
            "SPARK_LOCAL_DIRS": str(scratch / "local"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": QUICK_JAVA,
            "PYSPARK_PYTHON": sys.executable,
        }
        inherited = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        with log.open("wb") as out:
            process = subprocess.Popen(
                isolated(command, self.hidden, scratch),
                stdout=out,
                stderr=subprocess.STDOUT,
                env=inherited | own | environment,
                start_new_session=True,
            )
        machine = Machine(process, log)
        self.stack.callback(machine.kill)
        return machine

    def start_master(self) -> None:
        """The master, on a free port."""
        port, self.pages = free_port(), free_port()
        daemon = [str(SPARK / "bin/spark-class"), "org.apache.spark.deploy.master.Master"]
        where = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(self.pages)]
        self.leader = self.start("master", [*daemon, *where])
        self.leader.wait_for("I have been elected leader")
        self.master = f"spark://127.0.0.1:{port}"

    def start_worker(self) -> Machine:
        """A further worker."""
        name = f"worker{len(self.workers)}"
        daemon = [str(SPARK / "bin/spark-class"), "org.apache.spark.deploy.worker.Worker", self.master]
        has = ["--host", "127.0.0.1", "--webui-port", "0", "--cores", "2", "--memory", "2g"]
        work = ["--work-dir", str(self.folder / name / "work")]
        worker = self.start(name, [*daemon, *has, *work])
        worker.wait_for("Successfully registered with master")
        self.workers.append(worker)
        return worker

    def start_server(self, name: str) -> tuple[str, Machine]:
        """A Spark Connect server on the cluster, with its address first."""
        port = free_port()
        configuration = {
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(port),
            "spark.executor.memory": "512m",
            "spark.cores.max": "2",  # half of what two workers have: a server never gives its own back
            "spark.ui.enabled": "false",
        }
        submit = [str(SPARK / "bin/spark-submit"), "--master", self.master]
        submit += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
        for key, value in configuration.items():
            submit += ["--conf", f"{key}={value}"]
        server = self.start(name, [*submit, "spark-internal"], SPARK_DAEMON_MEMORY="640m")
        server.wait_for("Spark Connect server started at")
        return f"sc://127.0.0.1:{port}", server


@contextmanager
def cluster(folder: Path, hidden: Iterable[Path], workers: int = 2) -> Iterator[Cluster]:
    """A master and some workers, gone at the end with all they started.

    Args:
        folder: for their logs and scratch space; not in ``hidden``.
        hidden: folders that are empty for every one of them.
    """
    made = Cluster(folder, tuple(hidden))
    with made.stack:
        made.start_master()
        for _ in range(workers):
            made.start_worker()
        yield made
