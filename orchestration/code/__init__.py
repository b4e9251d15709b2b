"""The code that a stage depends on: the statements that its functions reach, and the files they load.

Start at :func:`code_of` in :mod:`.closure`, which follows the statements; :mod:`.modules` reads modules as
statements. docs/design/code.md describes the steps and the hashes, with an example.
"""

from orchestration.code.closure import Declared, code_of
from orchestration.code.modules import PACKAGES, ROOT, packages_of, short_of_python

__all__ = ["PACKAGES", "ROOT", "Declared", "code_of", "packages_of", "short_of_python"]
