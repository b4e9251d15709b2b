"""The code that a stage depends on: the statements that its functions reach, and the data files they name.

docs/design/code.md tells why, and how to change a rule safely. The docstrings of the files follow one
example, the code of the function ``answer`` in two modules of the project::

    # exam.py                          # marks.py
    from marks import grade            def grade(n, limit): ...
    LIMIT = 3                          def draw(n): ...
    def answer(n):
        return grade(n, LIMIT)

Each file knows only the files above it; :func:`code_of` in the last one is the door:

- :mod:`.checkout`: the project's packages and files;
- :mod:`.statements`: the text of a module as statements; :mod:`.modules` keeps each module parsed;
- :mod:`.values`: the values that functions carry, such as a declared benchmark, as plain data;
- :mod:`.steps`: from a statement to the statements that it depends on;
- :mod:`.data_files`: the files that a statement names;
- :mod:`.closure`: all that some functions reach, as a hash for each file.
"""

from orchestration.code.checkout import PACKAGES, ROOT
from orchestration.code.closure import code_of
from orchestration.code.modules import packages_of
from orchestration.code.statements import short_of_python
from orchestration.code.values import Declared

__all__ = ["PACKAGES", "ROOT", "Declared", "code_of", "packages_of", "short_of_python"]
