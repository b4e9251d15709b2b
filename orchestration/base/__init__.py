"""Tools for every room: YAML, HTTP, git, templates, and the removal of secrets from output."""
