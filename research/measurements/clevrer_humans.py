"""Notions of cause beside people's questions: the share of each, and of choosing by other scenes.

    python -m research.measurements.clevrer_humans DATA

DATA is the folder of the public CLEVRER files, with `clevrer_humans/train.json.gz` in it or beside it. The
rules are judged on the released training part alone. Of its videos those with proposals have motion too:
there but-for by forks stands beside the chain.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from research.domains.humans import (
    HumanScene,
    Moment,
    by_chain,
    read_human_questions,
    resolve,
    responsible,
)
from research.domains.perception.format import decode_proposals, proposal_names
from research.domains.perception.log import perceived_log
from research.domains.perception.perceive import examined
from research.domains.positions import tracked_log
from substrate.base.errors import ProgramError
from substrate.base.numbered import sources_in
from substrate.domains.clevrer.counterfactual import Counterfactual, judge
from substrate.domains.clevrer.deltas import events_log
from substrate.domains.clevrer.format import (
    CompactCollision,
    CompactObject,
    InOut,
    SceneEvents,
    read_scene_events,
    tracks,
)
from substrate.domains.clevrer.parameters import Parameters
from substrate.domains.clevrer.scene import Scene
from substrate.generators.clevrer import generate_scene

FOLDS, SHUFFLES = 10, 5
GENERATED = 60
STEM = "Which of the following is responsible for "
Rule = Callable[[Moment, Moment, Scene], bool]


def before(cause: Moment, effect: Moment, scene: Scene) -> bool:
    """Responsibility of anything that happens earlier."""
    if cause.event is None or effect.event is None:
        return chain("event")(cause, effect, scene)
    same = cause.event.iri == effect.event.iri
    return effect.outcome if same else (cause.event.frame or 0) <= (effect.event.frame or 0)


def chain(variant: str) -> Rule:
    """An ancestor is responsible."""
    return lambda cause, effect, scene: cause.happens and by_chain(cause, effect, scene, variant)


def needed(cause: Moment, effect: Moment, scene: Scene) -> bool:
    """But-for by the duality: an object of the cause alone takes part in an ancestor of the effect."""
    if (
        effect.event is None
        or cause.event is None
        or not (others := cause.event.objects - effect.event.objects)
    ):
        return chain("event")(cause, effect, scene)
    earlier = (cause.event.frame or 0) <= (effect.event.frame or 0)
    return earlier and bool(others & scene.ancestry("event")[effect.event.iri].objects)


RULES: Mapping[str, Rule] = {
    "never": lambda cause, effect, scene: False,
    "chain": chain("event"),
    "chain, global frame": chain("global"),
    "but-for, by the duality": needed,
    "whatever comes before": before,
}


class Asked(NamedTuple):
    """A question: its scene's number, the moments it may speak of, and the gold; none where unread."""

    scene: int
    pairs: Sequence[tuple[Moment, Moment]] | None
    correct: bool

    def right(self, rule: Rule, scene: Scene) -> bool:
        """Tell whether a rule answers it as the gold does; unread is wrong."""
        return self.pairs is not None and any(rule(*pair, scene) for pair in self.pairs) == self.correct


def asked_of(number: int, record: HumanScene, scene: Scene) -> Iterator[Asked]:
    """The questions of a scene, a choice each, resolved."""
    for question in record.questions:
        for choice in question.choices:
            try:
                causes = resolve(choice.choice, scene)
                effects = resolve(question.question.removeprefix(STEM).rstrip("?"), scene)
                pairs = [(cause, effect) for cause in causes for effect in effects]
            except ProgramError:
                pairs = None
            yield Asked(number, pairs, choice.answer == "correct")


def chosen(hits: Mapping[str, list[bool]], scenes: Sequence[int]) -> Iterator[tuple[int, Counter[str]]]:
    """For each shuffle of the scenes: how many are right under the rule that was best on the other folds."""
    for shuffle in range(SHUFFLES):
        order = sorted(set(scenes))
        Random(shuffle).shuffle(order)
        fold = {scene: place % FOLDS for place, scene in enumerate(order)}
        right, picked = 0, Counter[str]()
        for out in range(FOLDS):
            training = [place for place, scene in enumerate(scenes) if fold[scene] != out]
            best = max(hits, key=lambda name: sum(hits[name][place] for place in training))
            right += sum(hit for hit, scene in zip(hits[best], scenes, strict=True) if fold[scene] == out)
            picked[best] += 1
        yield right, picked


def filmed(data: Path, records: Mapping[int, HumanScene]) -> Iterator[tuple[bool, bool]]:
    """For each question about a video with proposals: whether the chain is right, and whether forks are,
    where they apply.
    """
    where = data / "proposals.zip"
    names = proposal_names(where)
    for number in sorted(names.keys() & records.keys()):
        (source,) = sources_in(where, [names[number]])
        scene = Scene(perceived_log(examined(decode_proposals(source), source[0])))
        for question in asked_of(number, records[number], scene):
            forks: Rule = lambda cause, effect, at: responsible(cause, effect, at, Parameters())  # noqa: E731
            yield question.right(chain("event"), scene), question.right(forks, scene)


def imagined(scenes: int, every: int = 5) -> Counter[str]:
    """Count how often chain and fork agree with the generator's own second run, without an object.

    Each collision of a generated scene is asked about without each object that takes no part in it. Forks
    know positions alone, of some frames.
    """
    count = Counter[str]()
    for number in range(scenes):
        generated = generate_scene(number, seed=3)
        film, by_object = generated.annotation, tracks(generated.annotation)
        places = {
            name: [(f, *state.location[:2]) for f, state in enumerate(track) if state.inside_camera_view]
            for name, track in by_object.items()
        }
        events = SceneEvents(
            number,
            len(film.motion_trajectory),
            [
                CompactObject(thing.color, thing.material, thing.shape, thing.object_id)
                for thing in film.object_property
            ],
            [
                InOut(places[name][0][0], name, "in")
                for name in places
                if places[name] and places[name][0][0] > 0
            ],
            [CompactCollision(hit.object_ids, hit.frame_id) for hit in film.collision],
        )
        seen = {name: [point for point in points if point[0] % every == 0] for name, points in places.items()}
        scene = Scene(tracked_log(replace(events, trajectory=seen)))
        for event in scene.events:
            for name in scene.objects:
                if event.kind != "Collision" or name in event.objects:
                    continue
                again = {frozenset(hit.object_ids) for hit in generated.truth.counterfactual_collisions[name]}
                occurs = event.objects in again
                count["asked"] += 1
                for method in ("duality", "simulated"):
                    verdict = judge(scene, event, name, Counterfactual(method))
                    count[method] += verdict.occurs == occurs
    return count


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    humans = next(
        p / "clevrer_humans" / "train.json.gz" for p in (data, data.parent) if (p / "clevrer_humans").is_dir()
    )
    records = read_human_questions(humans)
    events = read_scene_events(data / "ground_truth_train.jsonl.gz")
    scenes = {number: Scene(events_log(events[number])) for number in records}
    questions = [
        question
        for number, record in records.items()
        for question in asked_of(number, record, scenes[number])
    ]
    sys.stdout.write(
        f"{len(questions)} questions, "
        f"{sum(question.pairs is None for question in questions)} cannot be resolved\n"
    )
    hits = {
        name: [question.right(rule, scenes[question.scene]) for question in questions]
        for name, rule in RULES.items()
    }
    for name, hit in hits.items():
        sys.stdout.write(f"{name}: {sum(hit)} ({100 * sum(hit) / len(hit):.1f} %)\n")
    for right, picked in chosen(hits, [question.scene for question in questions]):
        share = 100 * right / len(questions)
        rules = ", ".join(f"{name} {n}" for name, n in picked.most_common())
        sys.stdout.write(f"chosen on the other folds: {right} ({share:.1f} %); {rules}\n")
    both = list(filmed(data, records))
    sys.stdout.write(
        f"with perceived motion, {len(both)} questions: chain {sum(chained for chained, _ in both)}, "
        f"forks {sum(forked for _, forked in both)}\n"
    )
    count = imagined(GENERATED)
    sys.stdout.write(
        f"without an object, {count['asked']} collisions of {GENERATED} generated scenes are those of the "
        f"world's second run: chain {count['duality']}, forks from positions {count['simulated']}\n"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
