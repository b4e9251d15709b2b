"""The language model behind a profile's answers: what it is called, and what its requests took."""

from __future__ import annotations

from pathlib import Path

import msgspec

from orchestration.models.exchange import Answerer, Records, address, asked_again
from orchestration.models.transcript import Took
from substrate.base.inputs import read_bytes
from substrate.baselines.parameters import Baseline

# The file next to a profile's copy of a transcript that names the answering model.
ANSWERING = "model.json"


class AnsweringModel(msgspec.Struct, frozen=True):
    """The model that answered in some exchanges.

    Attributes:
        model: its name in ``params.yaml``.
        revision: its revision there.
        answered: the models that the server named.
        requests: the number of requests.
        prompt_tokens: the tokens of all requests.
        completion_tokens: the tokens of all replies.
        seconds: the mean time of a request; 0 if it is unknown.
        repeated: the number of requests that were asked twice.
        agreed: the number of these that got the same reply twice.
    """

    model: str
    revision: str
    answered: list[Answerer]
    requests: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    repeated: int
    agreed: int

    @property
    def name(self) -> str:
        """The answering model, with its known properties.

        >>> server = Answerer("Small.Q4_1", "b1", "xllamacpp 1", "Q4_1", "sha256:0123456789abcdef")
        >>> AnsweringModel("Small.Q4_1", "sha256:0123456789abcdef", [server], 1, 2, 3, 0.5, 0, 0).name
        'Small.Q4_1 (Q4_1, weights 0123456789ab, xllamacpp 1)'
        """
        named = []
        for by in self.answered:
            weights = by.weights or self.revision
            about = (by.quantisation, f"weights {weights.removeprefix('sha256:')[:12]}", by.server)
            alias = f", asked for as {self.model}" if by.model and by.model != self.model else ""
            unnamed = "" if by.model else ", the server names no model"
            named.append(f"{by.model or self.model} ({', '.join(filter(None, about))}{alias}{unnamed})")
        return " and ".join(named) or self.model


def answering_model(records: Records, baseline: Baseline, took: Took) -> AnsweringModel:
    """Describe the model that answered in some records of one baseline."""
    first = [record for record in records.values() if "again" not in record.request]
    repeats = [(record, records.get(address(asked_again(record.request)))) for record in first]
    agreed = [record.reply.content == repeat.reply.content for record, repeat in repeats if repeat]
    replies = (record.reply for record in first if not record.reply.error)
    by = {msgspec.structs.replace(reply.by, fingerprint="") for reply in replies}
    asked = str(baseline.model), baseline.revision, sorted(by, key=msgspec.structs.astuple), len(first)
    prompt = sum(record.reply.prompt_tokens for record in first)
    completion = sum(record.reply.completion_tokens for record in first)
    seconds = round(took.seconds / took.requests, 1) if took.requests else 0.0
    return AnsweringModel(*asked, prompt, completion, seconds, len(agreed), sum(agreed))


def read_model(folder: Path) -> AnsweringModel | None:
    """The model behind a profile's copy of a transcript; ``None`` if nothing was measured."""
    path = folder / ANSWERING
    return msgspec.json.decode(read_bytes(path), type=AnsweringModel) if path.is_file() else None
