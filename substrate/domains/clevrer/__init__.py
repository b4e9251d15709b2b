"""CLEVRER: colliding objects; what happened, why, what will happen and what would."""
