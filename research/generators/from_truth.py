"""Questions about real videos with gold from their true events; the gold is exact if these are complete.

They are the questions that the world asks about its own films
(:mod:`substrate.generators.clevrer.descriptive`), and questions about the causes of each collision, whose
options are all entries, collisions and objects. Gold is counted from the list of events; no program is run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import resources
from pathlib import Path
from random import Random

from research.domains.objects import look_of
from substrate.base.errors import FormatError
from substrate.base.files import replacing
from substrate.domains.clevrer import format
from substrate.domains.clevrer.questions import GRAMMAR
from substrate.generators.clevrer.choices import negation
from substrate.generators.clevrer.descriptive import ask
from substrate.generators.clevrer.events import Film, WorldEvent
from substrate.generators.clevrer.phrases import Names
from substrate.generators.layout import QUESTIONS, encode_scene

ASKED = 11
"""Descriptive questions a video, as official ones."""
DEEPEST = 3
"""Chains of so many collisions and longer are one stratum."""
_KINDS = {"filter_in": "entry", "filter_collision": "collision"}
_BY_DEPTH = 100
"""The number of an explanatory question is its depth times this, and its place among the collisions."""


class Recorded(Film):
    """A video with known objects and events and unknown speeds.

    Its two methods about a state of motion give ``None``, as :class:`Film` does if a speed is near the limit
    of moving. The caller then asks no question about the state.
    """

    def __init__(self, real: format.SceneEvents) -> None:
        looks = Counter(map(look_of, real.objects))
        if alike := [look for look, times in looks.items() if times > 1]:
            what, hint = f"two objects are a {' '.join(alike[0])}", "Questions name an object by its looks"
            raise FormatError(what, where=(f"scene {real.scene_index}", "$.objects"), hint=hint)
        places = {o.id: place for place, o in enumerate(real.objects)}
        objects = [format.ObjectProperty(places[o.id], o.color, o.material, o.shape) for o in real.objects]
        super().__init__(format.Annotation(real.scene_index, "", objects, [], []))

        def who(numbers: Sequence[int]) -> tuple[int, ...]:
            return tuple(sorted(places[number] for number in numbers))

        events = [
            *(WorldEvent("collision", who(hit.object), hit.frame) for hit in real.collisions),
            *(WorldEvent(move.type, who(format.in_out_objects(move)), move.frame) for move in real.in_outs),
        ]
        self.events = sorted(events, key=lambda event: (event.frame, event.type, event.objects))
        self.end_is_clear = False  # without speeds, nobody knows which objects move in the last frames

    def in_state(self, state: str, frame: int) -> None:
        """``None``, since no speed is known."""

    def in_state_throughout(self, state: str) -> None:
        """``None``, since no speed is known."""

    @property
    def names(self) -> Names:
        """The ways to name its objects."""
        return Names(tuple(self.annotation.object_property))

    @cached_property
    def once(self) -> set[WorldEvent]:
        """The events that a program can name: no other event has the same type and objects."""
        times = Counter((event.type, event.objects) for event in self.events)
        return {event for event in self.events if times[event.type, event.objects] == 1}

    def depths(self) -> dict[WorldEvent, int]:
        """By event, the collisions of the longest chain that leads to it.

        >>> from substrate.domains.clevrer.format import CompactCollision, CompactObject, InOut
        >>> two = [CompactObject("red", "metal", shape, n) for n, shape in enumerate(("cube", "sphere"))]
        >>> real = format.SceneEvents(7, 128, two, [InOut(90, 1, "out")], [CompactCollision((0, 1), 20)])
        >>> list(Recorded(real).depths().values())
        [0, 1]
        """
        depths: dict[WorldEvent, int] = {}
        for event in self.events:
            hits = (depths[cause] for cause in self.causes[event] if cause.type == "collision")
            depths[event] = 1 + max(hits, default=-1)
        return depths


def descriptive(real: format.SceneEvents, seed: int) -> list[format.Question]:
    """Descriptive questions of a video's true events, with their answers."""
    film = Recorded(real)
    made = ask(film, film.names, Random(f"{seed}/{real.scene_index}/descriptive"), ASKED)
    return [
        format.Question(number, q.text, "descriptive", q.program.split(), q.subtype, q.answer)
        for number, q in enumerate(made)
    ]


def explanatory(real: format.SceneEvents, seed: int, *, sharing: bool = False) -> list[format.Question]:
    """A question about each collision of a video: which other objects and events are responsible.

    Its subtype says the length of the longest chain of collisions before it, ``chain_3`` three and more. An
    event that a video has twice, which no program can name, is neither asked about nor an option.

    Args:
        real: the video's true events.
        seed: the seed of the wording.
        sharing: whether the answers are those of a method that follows no chain: an earlier event is
            responsible if it shares an object with the collision.
    """
    film, rng = Recorded(real), Random(f"{seed}/{real.scene_index}/explanatory")
    names, depths = film.names, film.depths()
    questions: list[format.Question] = []
    for place, target in enumerate(film.of_type("collision")):
        if target not in film.once:
            continue
        causes = film.causes[target]
        if sharing:
            causes = [cause for cause in causes if set(cause.objects) & set(target.objects)]
        event, depth = names.event(target, rng, clause=False), min(DEEPEST, depths[target])
        phrase = GRAMMAR.write("explanatory", rng, event=event, negated=negation(False))
        questions.append(
            format.Question(
                depth * _BY_DEPTH + place,
                phrase.text,
                "explanatory",
                phrase.program.split(),
                f"chain_{depth}",
                choices=list(_options(film, names, rng, target, causes)),
            )
        )
    return sorted(questions, key=lambda question: question.question_id)


def _options(
    film: Recorded, names: Names, rng: Random, target: WorldEvent, causes: Sequence[WorldEvent]
) -> Iterator[format.Choice]:
    """All that official questions offer: the presence of each object but the target's own, each entry, and
    each collision.
    """
    once = film.once
    involved = {number for cause in causes for number in cause.objects}
    others = [o.object_id for o in film.annotation.object_property if o.object_id not in target.objects]
    named = [(names.of(number, rng), number in involved) for number in others]
    options = [(GRAMMAR.write("presence", rng, thing=phrase), true) for phrase, true in named]
    events = [
        event for kind in ("in", "collision") for event in film.of_type(kind) if event in once - {target}
    ]
    options += [(names.event(event, rng, clause=False), event in causes) for event in events]
    for place, (phrase, true) in enumerate(options):
        yield format.Choice(place, phrase.text, phrase.program.split(), "correct" if true else "wrong")


def depth_of(question: int) -> int:
    """The depth of an explanatory question, by its number.

    >>> depth_of(203)
    2
    """
    return question // _BY_DEPTH


class Truths:
    """A file of true events, and the questions made of it.

    Args:
        path: the file, as `answer --events` takes it.
        seed: the seed of the wording.

    Raises:
        FormatError: the file breaks its format, or two objects of a scene look alike.
    """

    def __init__(self, path: Path, seed: int) -> None:
        self._path, self._seed, self._scenes = path, seed, format.read_scene_events(path)
        self._asked: Counter[int] = Counter()
        self._options: Counter[tuple[str, str]] = Counter()
        self.numbers: Sequence[int] = [
            number for number, scene in sorted(self._scenes.items()) if scene.collisions
        ]

    def make(self, scene: int) -> bytes:
        """The official record of a scene's questions."""
        questions = explanatory(self._scenes[scene], self._seed)
        for question in questions:
            self._asked[depth_of(question.question_id)] += 1
            for choice in question.choices or ():
                kind = _KINDS.get(choice.program[-2], "presence of an object")
                self._options[kind, choice.answer or ""] += 1
        return encode_scene({QUESTIONS: format.SceneQuestions(scene, questions)})

    def describe(self, out: Path) -> None:
        """Write `DATASHEET.md`, with counts of the questions that were made."""
        kinds = sorted({kind for kind, _ in self._options})
        rows = [(kind, *(self._options[kind, answer] for answer in ("correct", "wrong"))) for kind in kinds]
        text = resources.files("research.generators").joinpath("from_truth.md").read_text("utf-8")
        filled = text.format(
            file=self._path.name,
            seed=self._seed,
            scenes=f"{len(self.numbers):,}",
            questions=f"{self._asked.total():,}",
            depths="\n".join(f"| {depth} | {n:,} |" for depth, n in sorted(self._asked.items())),
            options="\n".join(f"| {kind} | {yes + no:,} | {yes:,} |" for kind, yes, no in rows),
        )
        with replacing(out / "DATASHEET.md") as fresh:
            fresh.write_text(filled, "utf-8")
