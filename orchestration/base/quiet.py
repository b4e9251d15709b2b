"""End a process of Dagster without a traceback if it is interrupted while it loads the pipeline."""

import sys
from types import TracebackType

_before = sys.excepthook


def _quiet(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if kind.__name__ != "DagsterExecutionInterruptedError":
        _before(kind, error, trace)


sys.excepthook = _quiet
