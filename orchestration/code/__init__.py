"""The code that a stage depends on: the statements that its functions reach, and the files they load."""

from orchestration.code.closure import Declared, code_of
from orchestration.code.modules import PACKAGES, ROOT, packages_of, short_of_python

__all__ = ["PACKAGES", "ROOT", "Declared", "code_of", "packages_of", "short_of_python"]
