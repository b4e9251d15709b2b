"""ComPhy's hidden properties: mass and charge of objects, inferred from how they move in reference videos.

Begin with :mod:`.properties`: reference videos ► masses and charges, each with a probability. It rests on
:mod:`.evidence`, the fits to motion. :mod:`.facts` spells the result for a target's log, and :mod:`.motion`
simulates a world that was not filmed, with the inferred masses and charges.
"""
