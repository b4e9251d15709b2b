"""The requests of a profile to a language model, and the transcript of its answers."""

from orchestration.benchmarks.baselines import Inputs, LanguageModel, Pictures
from orchestration.models.asking import Part
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import files_of, split_of
from substrate.baselines.parameters import Baseline

TRANSCRIPT = "transcript.jsonl"
"""The name of a profile's copy, in the folder of its dataset."""


def parts_of(model: LanguageModel, workspace: Workspace, pictures: Pictures) -> tuple[list[Part], Baseline]:
    """The requests to a model, and their settings."""
    baseline: Baseline = getattr(workspace.settings.of("baselines"), model.name)
    cases = model.source.cases(files_of(workspace, model.source), None, True).each
    logs = workspace.logs(model.asks.logger.name)
    split = split_of(workspace, model.source)
    return model.parts(Inputs(cases, logs.read, split, pictures), baseline), baseline
