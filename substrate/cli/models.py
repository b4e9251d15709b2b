"""`substrate models`: a language model on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Annotated

import typer

from substrate.baselines.parameters import MODEL_URL
from substrate.cli.console import PLAIN, argument, guarded, note, option, say

models_app = typer.Typer(**PLAIN)


@models_app.callback()
def _models() -> None:
    """Keep the group: without a callback, typer omits the name of a group's only command."""


@models_app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@guarded
def serve(
    command: Annotated[
        list[str] | None,
        argument("A command to run with the server, which ends with it.", metavar="[COMMAND]..."),
    ] = None,
    weights: Annotated[
        Path | None,
        option("--weights", "Another model's GGUF file, served under its name.", exists=True, dir_okay=False),
    ] = None,
) -> None:
    """Serve SmolLM2-135M-Instruct, or a model of yours, on the loopback interface.

    It serves a command, which finds it in SUBSTRATE_MODEL_URL, or until interrupted:

    substrate models serve substrate reproduce --only twin_direct
    """
    from substrate.base.files import sha256
    from substrate.baselines.serving import start

    server, url = start(weights)
    if weights:
        note(f"model={weights.stem} revision={sha256(weights)}")
    if command:
        raise typer.Exit(subprocess.call(command, env={**os.environ, MODEL_URL: url}))
    say(f"export {MODEL_URL}={url}")
    signal.sigwait({signal.SIGINT, signal.SIGTERM})
    del server
