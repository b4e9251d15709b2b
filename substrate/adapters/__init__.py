"""A log in the hands of other frameworks, a module for each; each asks for its own extra."""
