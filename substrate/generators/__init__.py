"""A folder a world: data with truth of its own; it knows a domain's format, nothing that answers."""
