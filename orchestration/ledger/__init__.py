"""The ledger of a profile, the pins in git, DVC's files, drift, verification; stages are values here."""
