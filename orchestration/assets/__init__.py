"""Every asset of the graph: importing this package declares all stages."""

from orchestration.assets import answers, datasets, logs, numbers, scores, tables

MODULES = [datasets, logs, answers, scores, tables, numbers]
