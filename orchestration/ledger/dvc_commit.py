"""`dvc commit --force TARGET …`, with each file of DVC read and written once.

DVC's own command does so for each target, and the lock file of all stages is long: that took half of a
reproduction. Runs as a script, so that DVC stays a program of its own.
"""

from __future__ import annotations

import sys
from copy import deepcopy
from functools import cache
from itertools import groupby

from dulwich.repo import Repo as Git
from dvc.dependency import param
from dvc.exceptions import DvcException
from dvc.repo import Repo


def commit(targets: list[str]) -> None:
    """Record what is there of the targets: stages of `dvc.yaml` by name, other files of DVC by path.

    Without a target all are recorded. An output that is not there keeps its pin, and so does what reads it.
    """
    # DVC reads the parameters three times for each stage. Each gets its own copy: what stands twice in a lock
    # file as one object would be written as a link.
    parameters = cache(param.load_path)
    param.load_path = lambda path, fs: deepcopy(parameters(path, fs))
    Git.open_index = cache(Git.open_index)  # read for each output, to see that git does not have it
    with Repo() as repo, repo.lock:
        by_name = {stage.addressing: stage for stage in repo.index.stages}
        stages = [by_name[target] for target in targets or by_name]
        if not targets:
            stages = [stage for stage in stages if any(out.exists for out in stage.outs)]
        for stage in stages:
            if all(file.exists for file in (*stage.outs, *stage.deps)):
                stage.save()
                stage.commit()
                continue
            for out in stage.outs:
                if out.exists:
                    out.save()
                    out.commit()
        for _, together in groupby(stages, key=lambda stage: stage.dvcfile.path):
            same = list(together)
            same[0].dvcfile.dump_stages(same, update_pipeline=False)


if __name__ == "__main__":
    try:
        commit(sys.argv[1:])
    except DvcException as error:
        sys.exit(str(error))
