"""The pins: the accepted results of each profile, in git, with the reasons for accepting them.

Begin with `Pin` and `PinFile` in :mod:`.pin_files`. Each file knows only files above it:

- :mod:`.paths` says where the pins lie, and which profiles DVC does not hold or decide the paper's claims;
- :mod:`.pin_files` reads and writes the pins, with the answers of each stage in short, and seals the files
  beside them;
- :mod:`.acceptances` has the lines of `pins/accepted.jsonl`, and finds changes of pins that no line accepts.

Which results become pins is decided in :mod:`orchestration.acceptance`; whether results are as pinned, in
:mod:`orchestration.drift.as_pinned`. Digests of official files are pinned by :mod:`orchestration.fetch`.
"""
