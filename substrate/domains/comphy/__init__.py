"""ComPhy: CLEVRER's language, with masses and charges that only motion shows.

A target is a video that questions ask about; it comes with four reference videos (``format.py``).

Begin with ``program.py``, whose table adds opcodes to CLEVRER's. Each file has its namesake in
:mod:`substrate.domains.clevrer` and says what it adds; ``_emitters.py`` gives the collisions that no video
shows. Masses and charges come into a log by ``target_log``: the package ``research`` infers them.
"""
