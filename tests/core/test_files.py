"""A large file is known by the root of a tree over its blocks, any other by its SHA-256."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from substrate.base import files
from substrate.base.files import sha256

BLOCK = 1 << 10


def tree_hash(blocks: list[bytes]) -> bytes:
    """The Merkle Tree Hash of RFC 9162, 2.1.1, as it is defined there."""
    if len(blocks) == 1:
        return hashlib.sha256(b"\0" + blocks[0]).digest()
    half = 1 << (len(blocks) - 1).bit_length() - 1
    return hashlib.sha256(b"\1" + tree_hash(blocks[:half]) + tree_hash(blocks[half:])).digest()


@pytest.mark.parametrize("size", [4 * BLOCK + 1, 5 * BLOCK, 6 * BLOCK + 7, 11 * BLOCK, 16 * BLOCK])
def test_a_large_file_has_the_root_of_the_tree_over_its_blocks(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LARGE", 4 * BLOCK)
    monkeypatch.setattr(files, "BLOCK", BLOCK)
    data = b"".join(hashlib.sha256(b"%d" % place).digest() for place in range(size // 32 + 1))[:size]
    path = tmp_path / "large"
    path.write_bytes(data)
    root = tree_hash([data[place : place + BLOCK] for place in range(0, size, BLOCK)])
    assert sha256(path) == f"sha256-tree:{root.hex()}"
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    assert sha256(path) != f"sha256-tree:{root.hex()}"


def test_a_file_that_is_not_large_keeps_its_sha256(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGE", 4 * BLOCK)
    (tmp_path / "file").write_bytes(b"a" * 4 * BLOCK)
    assert sha256(tmp_path / "file") == f"sha256:{hashlib.sha256(b'a' * 4 * BLOCK).hexdigest()}"
