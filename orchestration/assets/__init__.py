"""Every asset of the graph: importing this package declares all stages."""

from orchestration.assets import ablations, answers, datasets, logs, scores, tables

MODULES = [datasets, logs, answers, ablations, scores, tables]
