"""Two figures that the paper leaves blank, as data: one set of questions in two domains, and a twin."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from orchestration.benchmarks.twin import TWIN
from orchestration.workspace.folders import Workspace
from orchestration.workspace.named import files_of
from substrate import TBox, unfold
from substrate.ask import Answer, survey
from substrate.ask.questions import TEMPLATES
from substrate.domains.rows import decode
from substrate.domains.smallville.experiment import HORIZON, Twin, spec_twin, village_twin
from substrate.domains.smallville.format import read_specs
from substrate.domains.smallville.twin import ARMS


class Domain(NamedTuple):
    """A domain: its TBox, how long the log that its rules unfold is, and its answers by template."""

    name: str
    turtle: str
    deltas: int
    digest: str
    answers: dict[str, list[Answer]]


def cross_domain(names: Iterable[str] = ("village", "clinical")) -> list[Domain]:
    """Every question template asked of each domain; the answers that rest on something come first.

    >>> [sorted(domain.answers) == sorted(TEMPLATES) for domain in cross_domain()]
    [True, True]
    """
    found = []
    for name in names:
        tbox = TBox.load(name)
        log = unfold(tbox, tbox.opening(), until=HORIZON)
        answers = survey(tbox, log)
        by_template = {
            template: sorted((a for a in answers if a.template == template), key=lambda a: not a.evidence)
            for template in TEMPLATES
        }
        found.append(
            Domain(
                name,
                f"sha256:{hashlib.sha256(tbox.turtle.encode()).hexdigest()}",
                len(log),
                log.digest,
                by_template,
            )
        )
    return found


def twin_of(workspace: Workspace) -> Twin:
    """The first specification of Twin-EventLog whose news travels and whose answer differs between the arms;
    without one, the TBox's own village.
    """
    answers = workspace.artifacts / "twin" / "answers.jsonl"
    rows = [decode(line) for line in answers.read_bytes().splitlines()] if answers.is_file() else []
    said: dict[int, dict[str, str]] = {}
    for row in rows:
        said.setdefault(int(row.scene), {})[ARMS[int(row.question)]] = row.predicted
    for spec in read_specs(files_of(workspace, TWIN.source)["specs"]) if said else ():
        if spec.linkage == "propagation" and len(set(said[spec.spec].values())) > 1:
            return spec_twin(spec, said[spec.spec])
    return village_twin()
