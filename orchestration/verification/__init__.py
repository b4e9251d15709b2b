"""Verification: whether every file of a profile is as some record has it, and the results as pinned.

Begin with `verify_profile` in :mod:`.verify`. Each file knows only files above it:

- :mod:`.record_faults` checks the record in git: pins, seals, acceptances, verdicts and `dvc.yaml`. Runs and
  acceptances, which build on this record, refuse to begin if it has a fault;
- :mod:`.damage` checks every file of a profile, the record and the ledger included, and repairs results;
- :mod:`.verify` compares recomputed results with their pins too, and reports all.
"""
