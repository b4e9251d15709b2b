"""Causal ancestry, ancestor duality, and the explanation of an answer."""
