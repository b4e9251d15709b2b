"""The ledger of a profile, the pins in git, DVC's files, and the comparison of results with all three.

Three records hold digests of results. The ledger is this machine's: what each stage's last run read and made.
The pins are git's: the accepted results. DVC's entries tell where the bytes are. Drift is a difference of
results from their pins. Stages are values here. What each module is for:

- :mod:`.manifest` is the file of the ledger; :mod:`.records` reads and writes the records of stages in it,
  with the :mod:`.digests` of their files and the :mod:`.environment` of their run;
- :mod:`.pinned` reads and writes the pins; :mod:`.acceptance` decides what is pinned, after a run and for a
  reason that somebody gives; :mod:`.soundness` finds damaged files of pins;
- :mod:`.dvc` writes `dvc.yaml` and DVC's entries, with the script :mod:`.dvc_commit`;
- :mod:`.drift` finds the numbers and answers that moved between two measurements, :mod:`.differences` the
  files and the causes; :mod:`.verification` compares the files with their records, and finds damage;
- :mod:`.verdicts` decides the paper's claims from pins; :mod:`.outcomes` keeps the result of the last run.
"""
