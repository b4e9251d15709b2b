"""An answer, computed again from its input, through its log, by the pipeline's functions without Spark."""

import msgspec

from orchestration.lineage.answer import AnswerTrace
from orchestration.lineage.explain import Input, case_of
from orchestration.registry import INTERPRETED
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import split_of
from substrate.base.errors import ParameterError
from substrate.domains.rows import decode, encode


class Reexecution(msgspec.Struct, frozen=True):
    """The outcome, and whether it is the row and the log that are kept."""

    row: str
    log: str
    same_row: bool
    same_log: bool
    same_log_file: bool


def reexecute(workspace: Workspace, answer: AnswerTrace) -> Reexecution:
    """Compute the row of one answer and its log again, and hold them beside those that are kept.

    Raises:
        ParameterError: the row's benchmark cannot be computed apart.
    """
    line = workspace.path(answer.file).read_bytes().splitlines()[answer.line - 1]
    logged, _, name = answer.log_name.partition("/")
    kept_patch, row = workspace.logs(logged).patch(name), decode(line)
    benchmark = INTERPRETED.get(row.benchmark)
    given = Input(opened=workspace)
    if benchmark is None:
        raise ParameterError(
            f"an answer of {row.benchmark} cannot be computed apart",
            hint=f"`substrate verify` computes everything; --reexecute knows {', '.join(INTERPRETED)}",
        )
    case = case_of(benchmark.source, given, str(row.scene))
    if case is None:
        raise ParameterError(f"no scene {row.scene} is in the data", where=(benchmark.source.name,))
    parameters = given.parameters(benchmark)
    logs = [named.log for named in benchmark.logs(case, parameters)]
    rows = benchmark.rows(case, logs, parameters, split_of(workspace, benchmark.source))
    same = (one for one in rows if (one.subset, one.question) == (row.subset, row.question))
    if (fresh := next(same, None)) is None:
        return Reexecution("", "", False, False, False)
    same_file = any(log.digest == fresh.log and log.to_patch() == kept_patch for log in logs)
    text = encode(fresh)
    return Reexecution(text.decode(), fresh.log, text == line, fresh.log == row.log, same_file)
