"""The options of the commands that sign a head, or hold something against one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from substrate.cli.console import option

if TYPE_CHECKING:
    from substrate.base.heads import Head

KeyOption = Annotated[Path, option("--key", "The private key, as SSH has it (Ed25519, say).", metavar="KEY")]
HeadOption = Annotated[Path | None, option("--head", "A signed head that it has to fit.", metavar="HEAD")]
SignerOption = Annotated[
    Path | None, option("--key", "The public key of who signed the head.", metavar="KEY.pub")
]


def signed_head(head: Path | None, key: Path | None) -> Head:
    """The head of a file, which a key signed.

    Raises:
        ParameterError: one of the two is missing.
        HeadError: the signature does not hold.
    """
    from substrate.base.errors import ParameterError
    from substrate.base.heads import read_head

    if head is None or key is None:
        hint = "Give --head HEAD and --key KEY.pub: a head says nothing without the key of who signed it"
        raise ParameterError("is missing", where=("--key" if head else "--head",), hint=hint)
    return read_head(head, key)
