"""Tools that every room may use: YAML, and keeping secrets out of what is written."""
