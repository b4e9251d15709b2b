"""`dvc commit --force TARGET …`, but with each of DVC's files read and written once.

DVC's own command reads and writes them for each target, and the lock file of all stages is long: that took
half of a reproduction. This file runs as a script, so that DVC stays a separate program.
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
    """Record the present files of the targets: stages of `dvc.yaml` by name, other DVC files by path.

    By default each stage with an existing output is recorded. A missing output keeps its entry, and so does
    each stage that reads it.
    """
    # DVC reads the parameters three times for each stage. Each stage gets a copy: YAML would write an object
    # that occurs twice in the lock file as an alias.
    parameters = cache(param.load_path)
    param.load_path = lambda path, fs: deepcopy(parameters(path, fs))
    Git.open_index = cache(Git.open_index)  # DVC reads it for each output, to see that git does not track it
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
