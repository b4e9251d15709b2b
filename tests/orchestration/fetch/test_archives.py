"""Each member of an archive is checked before anything is written."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from orchestration.fetch.archives import extract
from substrate.base.errors import FormatError


def make(path: Path, members: list[tuple[str, bytes]]) -> Path:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members:
                archive.writestr(name, data)
        return path
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def texts(member: PurePosixPath) -> str | None:
    return member.name if member.suffix == ".txt" else None


@pytest.fixture(params=["a.zip", "a.tar.gz"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / request.param


@pytest.fixture
def out(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out"


def test_wanted_members_are_written(path: Path, out: Path) -> None:
    make(path, [("en/a.txt", b"A"), ("en/b.md", b"B"), ("en/c.txt", b"C")])
    extract(path, texts, out, what="text")
    assert {file.name: file.read_bytes() for file in out.iterdir()} == {"a.txt": b"A", "c.txt": b"C"}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([("en/a.txt", b"A"), ("../b.txt", b"B")], "leads out of the archive"),
        ([("en/a.txt", b"A"), ("/b.txt", b"B")], "leads out of the archive"),
        ([("en/a.txt", b"A"), ("en/a.txt", b"B")], "occurs twice"),
        ([("en/a.txt", b"A"), ("de/a.txt", b"B")], "would both be a.txt"),
        ([("en/a.md", b"A")], "holds no text"),
        ([], "holds no text"),
        ([("en/a.txt", b" " * (80 << 20))], "bomb|more than is allowed"),
    ],
)
def test_nothing_is_written_of_an_archive_that_is_not_right(
    path: Path, out: Path, members: list[tuple[str, bytes]], message: str
) -> None:
    make(path, members)
    with pytest.raises(FormatError, match=message) as caught:
        extract(path, texts, out, what="text")
    assert str(path) in str(caught.value)
    assert list(out.iterdir()) == []


def test_a_damaged_archive_and_a_link_are_refused(path: Path, out: Path) -> None:
    make(path, [("en/a.txt", b"A" * 5000)])
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(FormatError, match=r"not a readable archive|holds no text"):
        extract(path, texts, out, what="text")
    with tarfile.open(path.with_name("b.tar"), "w") as archive:
        link = tarfile.TarInfo("a.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(link)
    with pytest.raises(FormatError, match="is a link"):
        extract(path.with_name("b.tar"), texts, out, what="text")
    assert list(out.iterdir()) == []
