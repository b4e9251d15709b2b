"""The platform: it runs the science as stages, and shows and pins their results."""

import sys
from types import TracebackType


def _quiet(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    # Dagster's processes raise this when they are interrupted while they load the pipeline.
    if kind.__name__ != "DagsterExecutionInterruptedError":
        sys.__excepthook__(kind, error, trace)


sys.excepthook = _quiet
