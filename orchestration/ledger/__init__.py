"""The ledger of a profile, the pins that git holds, DVC's files, drift and verification; stages are values here."""
