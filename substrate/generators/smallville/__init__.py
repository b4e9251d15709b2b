"""A world of villages: Twin-EventLog's specifications, with gold by an oracle that shares no code with the
substrate.

Villages, interventions and questions are drawn from a seed until one fits what its number asks for: the cell
(linkage and query type), the answers in both arms and, among the first eight villages, the type of
intervention. Only the oracle computes what happens in a village.
"""

from substrate.generators.smallville.datasheet import CANARY, datasheet, write_specs
from substrate.generators.smallville.sampling import cell_of, generate, spec_line

__all__ = ["CANARY", "cell_of", "datasheet", "generate", "spec_line", "write_specs"]
