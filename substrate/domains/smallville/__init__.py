"""Smallville: a village, who tells what to whom, and what were if somebody did not."""
