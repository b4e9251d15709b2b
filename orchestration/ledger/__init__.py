"""The ledger of a profile, the pins in git, DVC's files, drift and verification; stages are values here."""
