"""Update, cascade, absence, deletion and time: what memories know of generated episodes, given gold facts.

    .venv/bin/python benchmarks/remembering.py [--episodes 200] [--seed 11]

Each memory is told the same steps as facts, without a model. `substrate` is :class:`substrate.Memory`;
`table` keeps the last value of each slot with its history, and does what it is told; `bm25` finds the ten
sentences nearest to the question and believes the last one about it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence

from research.baselines.village_tools import SentenceMemory
from research.exporters.remembering import remembered, town
from research.generators.remembering.episodes import by_kind, episodes
from research.generators.remembering.format import KINDS, UNKNOWN, Episode, Question


def table(episode: Episode) -> list[str]:
    """The answers of a table with a history."""
    history: list[dict[tuple[str, str], str]] = []
    now: dict[tuple[str, str], str] = {}
    for step in episode.steps:
        slot = step.person, step.relation
        if step.kind == "tell":
            now[slot] = step.value
        elif now.get(slot) == step.value:
            del now[slot]
        history.append(dict(now))
    return [
        history[question.at].get((question.person, question.relation), UNKNOWN)
        for question in episode.questions
    ]


def bm25(episode: Episode) -> list[str]:
    """The answers of a search over sentences."""
    sentences = [town().sentence(number, step) for number, step in enumerate(episode.steps)]

    def answer(question: Question) -> str:
        heard = sentences[: question.at + 1]
        lines = SentenceMemory(heard).search(
            f"{town().label(question.person)} {town().label(question.relation)}", 10
        )
        near = sorted(heard.index(sentence) for sentence in lines.splitlines())
        about = [episode.steps[number] for number in near]
        same = [
            step for step in about if (step.person, step.relation) == (question.person, question.relation)
        ]
        return same[-1].value if same and same[-1].kind == "tell" else UNKNOWN

    return [answer(question) for question in episode.questions]


MEMORIES: dict[str, Callable[[Episode], Sequence[str]]] = {
    "substrate": remembered,
    "table": table,
    "bm25": bm25,
}


def main() -> None:
    """Print a row a memory."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=11)
    given = parser.parse_args()
    sys.stdout.write(f"| memory | {' | '.join(KINDS)} |\n|---|{'---|' * len(KINDS)}\n")
    for name, answers in MEMORIES.items():
        right, total = Counter[str](), Counter[str]()
        for episode in episodes(town(), given.episodes, given.seed):
            for kind, (good, n) in by_kind(episode.questions, answers(episode)).items():
                right[kind] += good
                total[kind] += n
        shares = {kind: 100 * right[kind] / total[kind] for kind in KINDS}
        cells = (f"{right[kind]} of {total[kind]} ({shares[kind]:.1f} %)" for kind in KINDS)
        sys.stdout.write(f"| {name} | {' | '.join(cells)} |\n")


if __name__ == "__main__":
    main()
