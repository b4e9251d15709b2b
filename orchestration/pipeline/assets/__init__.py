"""Every asset of the graph: importing this package declares all stages."""

from orchestration.pipeline.assets import (
    ablations,
    answers,
    baselines,
    datasets,
    logs,
    numbers,
    report,
    scores,
    tables,
)

# isort: split
# After all others: it describes every stage declared above.
from orchestration.pipeline.assets import provenance

MODULES = [datasets, logs, answers, ablations, baselines, scores, tables, numbers, report, provenance]
