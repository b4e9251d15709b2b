"""ComPhy: CLEVRER's language with mass and charge that only motion shows."""
