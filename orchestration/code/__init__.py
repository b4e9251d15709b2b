"""The code that a stage depends on: the definitions that its functions reach, and the files they load."""

from orchestration.code.closure import Declared, code_of
from orchestration.code.definitions import bare
from orchestration.code.sources import PACKAGES, ROOT, packages_of

__all__ = ["PACKAGES", "ROOT", "Declared", "bare", "code_of", "packages_of"]
