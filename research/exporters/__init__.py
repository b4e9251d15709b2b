"""The project for other tools: Inspect, PROV-O, an annotated paper."""
