"""ComPhy: CLEVRER's language, with masses and charges that only motion shows."""
