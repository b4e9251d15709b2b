"""The ledger of a profile: what each stage's last run on this machine read and made.

Runs use it to skip stages; traces, verification and the comparison with the pins read it. Begin with `Made`
in :mod:`.manifest`. Each file knows only files above it:

- :mod:`.manifest` is the file of the ledger, with its types: `Files` are outs with their digests, and `Made`,
  the record of a stage's run, adds what they were made from;
- :mod:`.digests` computes the digests of files and of their lines, and says where two files differ;
- :mod:`.environment` names the versions that a stage ran with;
- :mod:`.stage_records` reads and keeps the records, and makes the record that a run would leave now;
- :mod:`.stage_results` has `StageResult`, a record with scores, cells and rows, as comparisons need them.
"""
