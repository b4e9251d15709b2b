"""Prompts for language models and the parsing of their replies; depends only on formats and logs."""
