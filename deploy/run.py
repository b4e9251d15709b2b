"""Starts a deployment on this machine: PostgreSQL, a Spark master with workers, Dagster's server and daemon.

    python deploy/run.py            runs until it is interrupted; http://127.0.0.1:3000
    python deploy/run.py --check    runs a small project through all parts; exit 1 on a fault

All parts listen on loopback, and end with the script. Databases and logs lie in `build/deploy`, or in the
folder that DEPLOYMENT names. The script needs the extra `deploy`, and Debian's PostgreSQL:
`apt-get install postgresql`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyspark
import yaml

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SPARK = Path(pyspark.__path__[0])
LOOPBACK = "127.0.0.1"
WORKERS = 2
STARTING = 300
"""Seconds in which a part must answer."""
CHECKED = "reproduce_gqa"


class DeploymentError(Exception):
    """A part does not come up, or does not work."""


class Deployment:
    """Processes on this machine, each with a log; all of them end with the block.

    Args:
        project: the folder with `params.yaml` and `workspace.yaml`.
        state: a folder for databases, logs and scratch files.
        ports: the ports of PostgreSQL, the master, the master's page, and the web server.
    """

    def __init__(self, project: Path, state: Path, ports: Sequence[int]) -> None:
        self.project, self.state = project, state
        self.postgres, self.master, self.page, self.web = ports
        self.stack, self.processes = ExitStack(), dict[str, subprocess.Popen[bytes]]()
        self.environment = os.environ | {
            "DAGSTER_HOME": str(state / "dagster"),
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
            "SPARK_HOME": str(SPARK),
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_MASTER": f"spark://{LOOPBACK}:{self.master}",
            "SPARK_NO_DAEMONIZE": "1",
            "SPARK_LOCAL_DIRS": str(state / "spark"),
            "SUBSTRATE_POSTGRES": f"postgresql+psycopg2://postgres@{LOOPBACK}:{self.postgres}/postgres",
        }

    def __enter__(self) -> Deployment:
        (self.state / "logs").mkdir(parents=True, exist_ok=True)
        (self.state / "dagster").mkdir(exist_ok=True)
        shutil.copy(HERE / "dagster.yaml", self.state / "dagster")
        with self.stack:
            self.start_postgres()
            self.start_spark()
            self.start_dagster()
            self.stack = self.stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    def start(self, name: str, command: Sequence[str | Path], **more: str) -> None:
        """Start a part as a process group; parts end in the reverse order."""
        with (self.state / "logs" / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                list(map(str, command)),
                cwd=self.project,
                env=self.environment | more,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

        def end() -> None:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

        self.processes[name] = process
        self.stack.callback(end)

    def wait_for(self, what: str, is_up: Callable[[], bool]) -> None:
        """Wait until a part is up, and say so."""
        deadline = time.monotonic() + STARTING
        while not answers(is_up):
            for name, process in self.processes.items():
                if process.poll() is not None:
                    log = (self.state / "logs" / f"{name}.log").read_text("utf-8", "replace")
                    raise DeploymentError(f"{name} ended: {' '.join(log.splitlines()[-1:])}")
            if time.monotonic() > deadline:
                raise DeploymentError(f"{what} did not come up in {STARTING} s")
            time.sleep(0.5)
        say(f"{what}: up")

    def start_postgres(self) -> None:
        """Start a PostgreSQL of this deployment, which trusts every user of this machine."""
        installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not installed:
            raise DeploymentError("PostgreSQL is not installed: apt-get install postgresql")
        programs, data = installed[-1].parent, self.state / "postgres"
        # PostgreSQL refuses to run as root.
        user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if not (data / "PG_VERSION").exists():
            data.mkdir(exist_ok=True)
            if user:
                shutil.chown(data, "postgres")
            initdb = [programs / "initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "-D", data]
            done = subprocess.run(
                [*user, *map(str, initdb)], cwd="/", capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise DeploymentError(f"initdb: {done.stderr.strip()}")
        on = ["-p", str(self.postgres), "-c", f"listen_addresses={LOOPBACK}", "-k", str(data)]
        self.start("postgres", [*user, programs / "postgres", "-D", data, *on])
        self.wait_for("PostgreSQL", lambda: listens(self.postgres))

    def start_spark(self) -> None:
        """Start a master and its workers."""
        daemon = [SPARK / "bin/spark-class", "org.apache.spark.deploy.master.Master", "--host", LOOPBACK]
        self.start("master", [*daemon, "--port", str(self.master), "--webui-port", str(self.page)])
        self.wait_for("Spark's master", lambda: listens(self.page))
        for number in range(WORKERS):
            daemon = [SPARK / "bin/spark-class", "org.apache.spark.deploy.worker.Worker"]
            has = ["--host", LOOPBACK, "--webui-port", "0", "--cores", "1", "--memory", "2g"]
            work = ["--work-dir", self.state / f"worker{number}", self.environment["SPARK_MASTER"]]
            self.start(f"worker{number}", [*daemon, *has, *work])
        self.wait_for(f"{WORKERS} workers", lambda: self.workers() == WORKERS)

    def workers(self) -> int:
        """The number of workers that the master knows."""
        with urllib.request.urlopen(f"http://{LOOPBACK}:{self.page}/json/") as reply:
            return int(json.load(reply)["aliveworkers"])

    def start_dagster(self) -> None:
        """Start the web server and the daemon, on the same instance."""
        programs = Path(sys.executable).parent
        where = ["-w", self.project / "workspace.yaml"]
        web = [sys.executable, "-m", "orchestration.dagster.webserver", "-h", LOOPBACK, "-p", str(self.web)]
        self.start("web", [*web, *where])
        self.start("daemon", [programs / "dagster-daemon", "run", *where])
        self.wait_for("Dagster's web server", lambda: listens(self.web))
        self.wait_for("Dagster's daemon", self.daemons_are_healthy)

    def ask(self, query: str, variables: Mapping[str, Any] | None = None) -> Any:
        """The answer of the web server's GraphQL."""
        body = json.dumps({"query": query, "variables": variables or {}}).encode()
        server = f"http://{LOOPBACK}:{self.web}"
        headers = {"Content-Type": "application/json", "Origin": server}
        request = urllib.request.Request(f"{server}/graphql", body, headers)
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)["data"]

    def daemons_are_healthy(self) -> bool:
        """Tell whether every required daemon reports that it is healthy."""
        reply = self.ask(
            "{ instance { daemonHealth { allDaemonStatuses { daemonType required healthy } } } }"
        )
        daemons = reply["instance"]["daemonHealth"]["allDaemonStatuses"]
        return all(daemon["healthy"] for daemon in daemons if daemon["required"])

    def run(self, job: str) -> str:
        """Launch a job as the UI does, wait for its end, and return the run's id."""
        launched = self.ask(
            """mutation($run: ExecutionParams!) { launchRun(executionParams: $run) {
                __typename ... on LaunchRunSuccess { run { runId } } ... on PythonError { message }
                ... on RunConfigValidationInvalid { errors { message } } } }""",
            {
                "run": {
                    "selector": {
                        "repositoryName": "__repository__",
                        "repositoryLocationName": "substrate",
                        "jobName": job,
                    },
                    "runConfigData": {"resources": {"workspace": {"config": {"profile": "sample"}}}},
                }
            },
        )["launchRun"]
        if "run" not in launched:
            raise DeploymentError(f"{job} was not launched: {launched}")
        name = launched["run"]["runId"]
        status = ""
        while status not in ("SUCCESS", "FAILURE", "CANCELED"):
            time.sleep(2)
            status = self.ask(
                "query($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }", {"id": name}
            )["runOrError"]["status"]
        if status != "SUCCESS":
            raise DeploymentError(f"{job} ended as {status}; its logs lie in {self.state / 'dagster'}")
        return name


def listens(port: int) -> bool:
    """Tell whether a process listens on a port of this machine."""
    with socket.socket() as probe:
        return probe.connect_ex((LOOPBACK, port)) == 0


def answers(is_up: Callable[[], bool]) -> bool:
    """Tell whether a part is up; no if it does not answer yet."""
    try:
        return is_up()
    except OSError:
        return False


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def free_ports(count: int) -> list[int]:
    """Ports that no process listens on."""
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind((LOOPBACK, 0))
        return [probe.getsockname()[1] for probe in probes]


def check() -> None:
    """Run a small project through all parts; check its rows, its events in PostgreSQL and its application."""
    with tempfile.TemporaryDirectory(prefix="substrate-deploy-") as folder:
        base = Path(folder)
        base.chmod(0o755)  # PostgreSQL's user passes through
        project = base / "project"
        project.mkdir()
        shutil.copy(ROOT / "workspace.yaml", project)
        # Settings that name a place or an option belong in the file: a run from the UI cannot set them.
        parameters = yaml.safe_load((ROOT / "params.yaml").read_text("utf-8"))
        parameters["profiles"]["sample"]["gqa"]["scenes"] = 3
        parameters["spark"]["config"] = {"spark.executor.memory": "512m"}
        parameters["storage"] = (base / "storage").as_uri()
        (project / "params.yaml").write_text(yaml.safe_dump(parameters), "utf-8")
        with Deployment(project, base / "state", free_ports(4)) as deployed:
            run = deployed.run(CHECKED)
            say(f"run {run}: done")
            rows = project / "artifacts/sample/gqa/answers.jsonl"
            if not rows.is_file() or not rows.read_bytes():
                raise DeploymentError(f"{rows} has no rows")
            say(f"answers: {len(rows.read_bytes().splitlines())} rows")
            events = events_in_postgres(deployed.environment["SUBSTRATE_POSTGRES"], run)
            if not events:
                raise DeploymentError(f"PostgreSQL has no event of run {run}")
            say(f"PostgreSQL: {events} events of the run")
            with urllib.request.urlopen(f"http://{LOOPBACK}:{deployed.page}/json/") as reply:
                master = json.load(reply)
            apps = master["activeapps"] + master["completedapps"]
            if not apps:
                raise DeploymentError("the run did not come to the Spark master")
            say(f"Spark's master: {len(apps)} application of {master['aliveworkers']} workers")


def events_in_postgres(address: str, run: str) -> int:
    """The number of events of a run in the database."""
    import psycopg2

    with psycopg2.connect(address.replace("+psycopg2", "")) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM event_logs WHERE run_id = %s", (run,))
        row = cursor.fetchone()
        return int(row[0]) if row else 0


def main() -> None:
    """Start a deployment and wait, or check one."""
    try:
        if sys.argv[1:] == ["--check"]:
            check()
            return
        state = Path(os.environ.get("DEPLOYMENT", ROOT / "build/deploy")).resolve()
        with Deployment(Path.cwd(), state, [5433, 7077, 8080, 3000]) as deployed:
            say(f"http://{LOOPBACK}:{deployed.web}")
            signal.pause()
    except KeyboardInterrupt:
        pass
    except DeploymentError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
