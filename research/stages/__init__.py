"""Runs over all logs, and the stages beyond the paper's."""
