"""The parameters of the language-model baselines; the endpoint and its key are never parameters."""

from __future__ import annotations

from typing import Annotated

import msgspec

MODEL_URL = "SUBSTRATE_MODEL_URL"
"""The environment variable with the URL of a language model's server."""
Count = Annotated[int, msgspec.Meta(ge=1)]


Revision = Annotated[str, msgspec.Meta(pattern="^(?!(main|master|HEAD|latest)$).+")]


class Baseline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A baseline: the model's name at the server, the version that is served, and the number of questions."""

    model: str | None
    """``None``: no model is named, and nothing is measured."""
    n: Annotated[Count, msgspec.Meta(description="Specifications or questions; fewer where there are fewer.")]
    revision: Revision = "unstated"
    """``sha256:`` and the digest of the weights, or their commit; never a name that moves, such as ``main``.

    If the server gives the digest of its weights, that digest must be this revision.
    """
    seed: int = 20
    """Goes to the model, and chooses the questions."""
    answers_as: str | None = None
    """The name that the server may give for the model, if that is not ``model``."""


SMOLLM2 = "SmolLM2-135M-Instruct.Q4_1"
"""The model of the extra ``models``."""
SMOLLM2_SHA256 = "sha256:b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""The digest of that model's weights; :mod:`substrate.baselines.serving` checks it before serving them."""


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All baselines, and the settings for calling a server, which do not affect its answers."""

    concurrency: Count = 4
    attempts: Count = 5
    timeout: Annotated[float, msgspec.Meta(gt=0)] = 120.0
    """Seconds to wait for one reply."""
    images: str | None = None
    """A folder of GQA's photographs, ``IMAGE_ID.jpg``."""
    twin_direct: Baseline = Baseline(None, 500)
    twin_reasoned: Baseline = Baseline(None, 100)
    twin_with_search: Baseline = Baseline(None, 100)
    twin_with_substrate: Baseline = Baseline(None, 100)
    twin_concordia: Baseline = Baseline(None, 100)
    controlled: Baseline = Baseline(None, 300)
    controlled_facts: Baseline = Baseline(None, 300)
    gqa_vision: Baseline = Baseline(None, 100)
    gqa_extractor: Baseline = Baseline(None, 30)
