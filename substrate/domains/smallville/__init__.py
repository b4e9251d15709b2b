"""Smallville: a village in which news spreads, and the effect of a person who does not pass it on."""
