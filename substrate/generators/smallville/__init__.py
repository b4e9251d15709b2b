"""A world of villages: Twin-EventLog's specifications, with gold by an oracle that shares no code with the
substrate.

Villages, interventions and questions are drawn from a seed until one fits what its number asks for: the cell
(linkage and query type), the answers in both arms, and, as far as it goes, the type of intervention. The
oracle alone says what becomes of a village.
"""

from substrate.generators.smallville.datasheet import CANARY, datasheet, write_specs
from substrate.generators.smallville.sampling import cell_of, generate, spec_line

__all__ = ["CANARY", "cell_of", "datasheet", "generate", "spec_line", "write_specs"]
