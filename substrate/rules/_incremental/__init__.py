"""Rules joined on what changed: the way to a fixpoint that :mod:`substrate.rules.fixpoint` takes."""
