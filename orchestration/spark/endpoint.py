"""The place where Spark runs: this machine, a cluster's masters, or a Spark Connect server.

``SPARK_REMOTE`` in the environment names a Connect server, ``SPARK_MASTER`` a cluster; without either, the
settings name the master.
"""

from __future__ import annotations

import os
import socket

from orchestration.settings import Spark
from substrate.base.errors import SubstrateError

# The seconds that a master or Connect server may take to accept a connection.
ANSWERING = 5.0


def master_of(settings: Spark) -> str:
    """Return the master that starts tasks if there is no Connect server."""
    return os.environ.get("SPARK_MASTER") or settings.master


def is_local(settings: Spark) -> bool:
    """Tell whether Spark runs only on this machine, so that workers see the driver's disk."""
    return not os.environ.get("SPARK_REMOTE") and master_of(settings).startswith("local")


def endpoints(settings: Spark) -> list[tuple[str, int]]:
    """Return the hosts and ports of the cluster's masters or Connect server; none if Spark is local."""
    address = os.environ.get("SPARK_REMOTE") or master_of(settings)
    scheme, _, rest = address.partition("://")
    default = {"spark": 7077, "sc": 15002}.get(scheme)
    if default is None:
        return []
    hosts = rest.partition("/")[0].partition(";")[0].split(",")
    # Without a colon, the whole address is the last part: then the host is in the port's place.
    pairs = (address.rpartition(":") for address in hosts)
    return [(host or port, int(port) if host and port.isdigit() else default) for host, _, port in pairs]


def addresses(settings: Spark) -> tuple[str, ...]:
    """Format the endpoints as ``host:port``, for errors."""
    return tuple(f"{host}:{port}" for host, port in endpoints(settings))


def require_endpoint(settings: Spark) -> None:
    """Check that Spark's endpoints accept connections.

    Raises:
        SubstrateError: no endpoint does; the error names the address and the setting.
    """
    refused: list[str] = []
    for host, port in endpoints(settings):
        try:
            socket.create_connection((host, port), timeout=ANSWERING).close()
            return
        except OSError as error:
            refused.append(f"{host}:{port} ({error.strerror or error})")
    if refused:
        setting = "SPARK_REMOTE" if os.environ.get("SPARK_REMOTE") else "SPARK_MASTER or spark.master"
        hint = f"Start it, or correct {setting}; `substrate cluster check` looks at all of a cluster"
        raise SubstrateError("no Spark answers", where=tuple(refused), hint=hint)
