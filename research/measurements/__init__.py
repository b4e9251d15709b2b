"""Measurements on real and on new generated data, a program each; pages of `docs/` show their results."""
