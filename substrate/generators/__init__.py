"""The worlds, one folder each: data with independent gold. None imports code that answers."""
