"""Files with a number in their name, in a folder or a zip: annotation_00012.json, sim_00012.json.gz."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from substrate.base.errors import FormatError
from substrate.base.inputs import ZIP_ERRORS, Source, members, open_zip, read_bytes, read_member


def names_in(where: Path, stem: str) -> list[str]:
    """The sorted names of a folder's files that begin with ``STEM_``, or of all members of a zip.

    Raises:
        FormatError: ``where`` is neither a folder nor a readable zip.
    """
    try:
        if where.is_dir():
            return sorted(path.relative_to(where).as_posix() for path in where.rglob(f"{stem}_*.json*"))
        with open_zip(where) as archive:
            names = sorted(info.filename for info in members(archive, where))
        # macOS adds to a zip, for each file, a file `._NAME`.
        return [name for name in names if not name.rpartition("/")[2].startswith("._")]
    except ZIP_ERRORS as error:
        what = f"neither a folder nor a readable zip ({error})"
        raise FormatError(what, where=(where,), hint=f"Give a folder or zip of {stem}_NNNNN.json") from error


def numbered(where: Path, stem: str, thing: str, files: str) -> dict[int, str]:
    """The name of every ``STEM_NNNNN.json`` in a folder or zip by its number, ascending.

    Args:
        where: a folder, or a zip.
        stem: the beginning of each name.
        thing: a message's name for the numbered things, such as ``video``.
        files: a message's name for all the files.

    Raises:
        FormatError: ``where`` is neither a folder nor a zip, two files have the same number, or none has a
            number.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     for number in (12, 7):
    ...         _ = Path(folder, f"sim_{number:05d}.json").write_text("{}")
    ...     numbered(Path(folder), "sim", "video", "proposals")
    {7: 'sim_00007.json', 12: 'sim_00012.json'}
    """
    return {number: name for (number,), name in by_numbers(where, stem, thing, files).items()}


def by_numbers(where: Path, stem: str, thing: str, files: str, parts: int = 1) -> dict[tuple[int, ...], str]:
    """The name of every ``STEM_N.json`` or, with more parts, ``STEM_N_M.json`` by its numbers, ascending.

    Arguments and errors are those of :func:`numbered`, and one more.

    Args:
        parts: the most numbers that a name may have; with several parts a name may have fewer.

    >>> from tempfile import TemporaryDirectory
    >>> from zipfile import ZipFile
    >>> with TemporaryDirectory() as folder, ZipFile(Path(folder, "a.zip"), "w") as archive:
    ...     for name in ("a/sim_00007.json", "a/old_sim_00007.json", "a/sim_00007_2.json"):
    ...         archive.writestr(name, "{}")
    ...     archive.close()
    ...     by_numbers(Path(folder, "a.zip"), "sim", "video", "proposals", parts=2)
    {(7,): 'a/sim_00007.json', (7, 2): 'a/sim_00007_2.json'}
    """
    number = "_([0-9]{1,9})"
    numbers_in_name = number + f"(?:{number})?" * (parts - 1)
    pattern = re.compile(rf"(?:^|/){stem}{numbers_in_name}\.json(?:\.gz)?$")
    by_number: dict[tuple[int, ...], str] = {}
    for name in names_in(where, stem):
        if match := pattern.search(name):
            numbers = tuple(int(part) for part in match.groups() if part)
            if numbers in by_number:
                called = "_".join(map(str, numbers))
                what = f"{thing} {called} occurs twice: {by_number[numbers]} and {name}"
                raise FormatError(what, where=(where,), hint="Keep one of them")
            by_number[numbers] = name
    if not by_number:
        hint = f"Give the folder or zip of {files}"
        raise FormatError(f"holds no {stem}_NNNNN.json", where=(where,), hint=hint)
    return dict(sorted(by_number.items()))


def sources_in(where: Path, names: Iterable[str]) -> Iterator[Source]:
    """The names and bytes of the given files of a folder or zip; a zip is opened once.

    Raises:
        FormatError: a file cannot be read.
    """
    if where.is_dir():
        for name in names:
            yield str(where / name), read_bytes(where / name)
        return
    with open_zip(where) as archive:
        for name in names:
            yield f"{where}:{name}", read_member(archive, where, name)
