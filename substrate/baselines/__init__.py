"""Prompts of language models and the reading of their replies; this room knows formats and logs only."""
