"""The parameters of the language-model baselines; the endpoint and its key are never parameters."""

from __future__ import annotations

from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=1)]


class Baseline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A baseline: the model by its name at the server, the version that is served, how much is asked."""

    model: str
    n: Count
    """Specifications or questions; fewer where there are fewer."""
    revision: str = "main"
    """A commit of the weights: no server takes it, but an answer of another one is another answer."""
    seed: int = 20
    """Goes to the model, and chooses the questions."""


_LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
_QWEN = "Qwen/Qwen2.5-VL-3B-Instruct"


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All baselines, and the patience and pace with which a server is asked, on which no answer depends."""

    concurrency: Count = 4
    requests_per_minute: Count | None = None
    attempts: Count = 5
    timeout: Annotated[float, msgspec.Meta(gt=0)] = 120.0
    """Seconds to wait for one reply."""
    images: str | None = None
    """A folder of GQA's photographs, ``IMAGE_ID.jpg``."""
    twin_direct: Baseline = Baseline(_LLAMA, 500)
    twin_concordia: Baseline = Baseline(_LLAMA, 100)
    controlled: Baseline = Baseline(_LLAMA, 300)
    gqa_vision: Baseline = Baseline(_QWEN, 100)
    gqa_extractor: Baseline = Baseline(_QWEN, 30)
