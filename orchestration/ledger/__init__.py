"""The ledger of a profile, the pins in git, DVC's files, and the comparison of results with all three.

Three records hold digests of results. The ledger is this machine's: what each stage's last run read and made.
The pins are git's: the accepted results. DVC's entries tell where the bytes are. Drift is a difference of
results from their pins. Stages are values here. What each module is for:

- :mod:`.manifest` is the file of the ledger, with the record of a stage's run (`Made`); :mod:`.records` reads
  and writes these records, with the :mod:`.digests` of their files and the :mod:`.environment` of their run;
- :mod:`.measurement` has a stage's results in detail (`StageResult`), and the part that git keeps (`Pin`);
- :mod:`.pinned` reads, writes and seals the pins; :mod:`.acceptance` decides what is pinned, after a run and
  for a reason that somebody gives; :mod:`.accepted` is the record of these reasons; :mod:`.soundness` finds
  damaged files of pins;
- :mod:`.dvc` writes `dvc.yaml` and DVC's entries, with the script :mod:`.dvc_commit`;
- :mod:`.drift` finds the numbers and answers that moved between two measurements, :mod:`.differences` the
  files and the causes; :mod:`.verification` compares the files with their records, and finds damage;
- :mod:`.verdicts` decides the paper's claims from pins; :mod:`.outcomes` keeps the result of the last run.

Begin with `Made` in :mod:`.manifest` and with :mod:`.measurement`. The files depend on each other in this
order: manifest and digests, records, measurement, pinned, differences, drift, verdicts, dvc and accepted,
soundness, acceptance, verification.
"""
