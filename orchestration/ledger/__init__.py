"""The ledger of a profile, the pins in git, DVC's files, drift and verification; stages are values here.

What each module is for:

- :mod:`.manifest` is the file of the ledger; :mod:`.records` reads and writes the records of stages in it,
  with the :mod:`.digests` of their files and the :mod:`.environment` of their run;
- :mod:`.pinned` reads and writes the pins, :mod:`.soundness` finds the damaged files of pins, and
  :mod:`.acceptance` replaces pins for a reason; :mod:`.dvc` exports them;
- :mod:`.drift` and :mod:`.changes` compare two measurements, the first by files and causes, the second by
  numbers and answers; :mod:`.verification` compares the files with their records;
- :mod:`.verdicts` decides the paper's claims from pins; :mod:`.outcomes` keeps the result of the last run.
"""
