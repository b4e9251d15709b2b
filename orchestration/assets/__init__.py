"""Every asset of the graph: importing this package declares all stages."""

from orchestration.assets import ablations, answers, baselines, datasets, logs, report, scores, tables

MODULES = [datasets, logs, answers, ablations, baselines, scores, tables, report]
