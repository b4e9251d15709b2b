"""The project for other tools; each file is one export, and imports no other but for Inspect's sample.

- :mod:`.prov`: the way of every number to its sources, as PROV-O. A stage of the pipeline writes it.
- :mod:`.paper`: a paper's source as HTML with our figure beside each printed one (`substrate paper`).
- :mod:`.inspect_tasks`: Twin-EventLog as a task of Inspect, with specifications of :mod:`.twin_sample`.
"""
