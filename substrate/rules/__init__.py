"""TBoxes and their rules, applied tick by tick to a fixpoint."""
