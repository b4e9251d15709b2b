"""CLEVRER: colliding objects; questions about events, causes, the future and removed objects."""
