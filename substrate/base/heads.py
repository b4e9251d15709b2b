"""Heads that somebody signed: the digest of a log or of the results, and who vouches for it.

A head is a line of JSON with an SSH signature behind it, made and checked by ``ssh-keygen -Y``: no network,
no package, and the key is one that its user has (Ed25519, say). Who rewrites a log or the results cannot make
the head that fits without the key; who holds the key can sign anything.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import msgspec

from substrate.base.errors import SubstrateError
from substrate.base.files import replacing
from substrate.base.inputs import NOT_JSON, read_text

_NAMESPACE = "substrate-head"
_WHO = "signer"
_SMALL = 1 << 16


class HeadError(SubstrateError):
    """A head cannot be signed, or its signature does not hold."""


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A statement that is signed.

    Attributes:
        of: ``log``, or ``results PROFILE``.
        digest: ``sha256:…`` of it.
        deltas: how many deltas a log had then.
        tick: its last tick then.
    """

    of: str
    digest: str
    deltas: int = 0
    tick: int = -1


def sign(head: Head, key: Path, out: Path) -> None:
    """Write a head with its signature.

    Args:
        head: what is signed.
        key: the private key's file, as SSH has it; a passphrase is asked for on the terminal.
        out: the file to write.

    Raises:
        HeadError: the key cannot be used, or ``ssh-keygen`` is not installed.
        OutputError: the file cannot be written.
    """
    statement = msgspec.json.encode(head) + b"\n"
    signature = _ssh("-Y", "sign", "-q", "-f", str(key), "-n", _NAMESPACE, given=statement, where=key)
    with replacing(out) as fresh:
        fresh.write_bytes(statement + signature)


def read_head(path: Path, key: Path) -> Head:
    """The head of a file, which a key signed.

    Args:
        path: a file that :func:`sign` wrote.
        key: the public key's file.

    Raises:
        HeadError: the signature is not that key's, or not of these bytes.
    """
    text, public = read_text(path), read_text(key).split()
    statement, _, signature = text.partition("\n")
    if len(text) > _SMALL or len(public) < 2:
        where, what = (path, "is no head") if len(text) > _SMALL else (key, "is no public key")
        raise HeadError(what, where=(where,), hint="Give the file that was signed, and KEY.pub")
    with tempfile.TemporaryDirectory(prefix="substrate-") as name:
        signers, signed = Path(name, "signers"), Path(name, "signature")
        signers.write_text(f'{_WHO} namespaces="{_NAMESPACE}" {public[0]} {public[1]}\n', "utf-8")
        signed.write_text(signature, "utf-8")
        named = ("-f", str(signers), "-I", _WHO, "-n", _NAMESPACE, "-s", str(signed))
        _ssh("-Y", "verify", *named, given=f"{statement}\n".encode(), where=path)
    try:
        return msgspec.json.decode(statement, type=Head)
    except NOT_JSON as error:
        raise HeadError(f"is no head ({error})", where=(path,), hint="Sign it with this version") from error


def _ssh(*arguments: str, given: bytes, where: Path) -> bytes:
    try:
        done = subprocess.run(["ssh-keygen", *arguments], input=given, capture_output=True, check=False)
    except FileNotFoundError as error:
        hint = "Install OpenSSH's client"
        raise HeadError("ssh-keygen is not installed", where=(where,), hint=hint) from error
    if done.returncode:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
        hint = "Look at the key; a head that was edited, or signed by another key, is none"
        raise HeadError(said[0] if said else "the signature does not hold", where=(where,), hint=hint)
    return done.stdout
