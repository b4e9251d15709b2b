"""The comparison of results with other results. Drift is a difference of results from their pins.

Begin with :mod:`.as_pinned`. It decides whether results are as pinned, and names each file, cell, score and
row that differs. The other files explain such a difference, and compare experiments as well:

- :mod:`.causes` names the changed code, parameters, inputs and versions;
- :mod:`.moved_numbers` names the numbers that moved, each with a test, and the answers that changed;
- :mod:`.claim_verdicts` decides the paper's claims by these results, and names the verdicts that changed.

All three know :mod:`.as_pinned`, and no other file of this room.
"""
