"""Counterfactual branches of a log: forks, interventions and merges."""
