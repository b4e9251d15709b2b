"""Digests, checksums and seals that fit changed bytes, as an attacker would add them."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from contextlib import suppress

from orchestration.models.transcript import address
from orchestration.workspace.tables import short_key
from substrate.log._chain import Chain
from substrate.log._members import pack


def log(data: bytes) -> bytes:
    """The text of a log with a chain that fits its lines."""
    chain, tick, lines = Chain(), -1, list[str]()
    head, body = list[str](), None
    for line in data.decode("utf-8", "replace").split("\n"):
        if body is None:
            named = re.match(r'H tick "(\d{1,18})" \.$', line)
            tick = int(named[1]) if named else tick
            if line == "TX .":
                body = list[str]()
            elif not line.startswith(("H id", "H prev")):
                head.append(line)
        elif line == "TC .":
            before, chain = chain.value, chain.after(tick, body)
            origin = ("H parent", "H branch", "H descent", "H opening")
            first = [header for header in head if header.startswith(origin)]
            rest = [header for header in head if not header.startswith(origin)]
            lines += [*first, f"H id <{chain.value}> .", f"H prev <{before}> .", *rest, "TX .", *body, line]
            head, body = [], None
        else:
            body.append(line)
    return "\n".join([*lines, *head, *(body or ())]).encode()


def member(data: bytes) -> bytes:
    """A packed log as this program writes it, with all its checksums."""
    return pack(log(data).decode())


def transcript(data: bytes) -> bytes:
    """Lines of a transcript, each with the address and digest of its request and reply."""
    lines: list[bytes] = []
    for line in data.splitlines():
        with suppress(ValueError, TypeError, KeyError, RecursionError):
            record = json.loads(line)
            digest = address({"request": record["request"], "reply": record["reply"]})
            line = json.dumps(record | {"address": address(record["request"]), "digest": digest}).encode()
        lines.append(line + b"\n")
    return b"".join(lines)


def zipped(member: bytes) -> bytes:
    """An archive with one annotation, which has these bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("annotation_00001.json", member)
    return buffer.getvalue()


def pins(data: bytes) -> bytes:
    """A file of pins with the seal of its lines."""
    return b'{"digest": "%s",\n%s\n' % (hashlib.sha256(data).hexdigest().encode(), data[2:])


def manifest(data: bytes) -> bytes:
    """The manifest of a table with the seal that fits it."""
    with suppress(ValueError, TypeError, KeyError, RecursionError, AttributeError):
        record = json.loads(data)
        seal = short_key(record["folder"], record["shards"], record["sums"])
        return json.dumps(record | {"seal": seal}).encode()
    return data
