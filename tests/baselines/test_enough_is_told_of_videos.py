"""The prompt of the controlled comparison tells the model enough: a reader that has only its text, of log and
question, gives every gold. The gold is the generator's own truth.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import msgspec
import pytest

from substrate.baselines.clevrer import log_text
from substrate.baselines.clevrer import request as request_of
from substrate.baselines.model import Request
from substrate.domains.clevrer.deltas import annotation_log
from substrate.domains.clevrer.format import COLORS, MATERIALS, SHAPES, decode_annotation
from substrate.generators.clevrer.scene import generate_scene

QUESTIONS = 300
GROUP = rf"(?:(?:{'|'.join(COLORS)}) )?(?:(?:{'|'.join(MATERIALS)}) )?(?:{'|'.join(SHAPES)}|object)"
THING = rf"the (?:{GROUP})"
EVENT = (
    rf"(?:the video (?:begins|starts|ends)|{THING} (?:enters|exits) the scene"
    rf"|{THING} and {THING} collide|{THING} collides with {THING})"
)
SPAN = rf"(?P<span>(?: (?:before|after) {EVENT})?)"
MOMENT = rf"(?: when (?P<moment>{EVENT}))?"
STATE = "(?P<state>moving|stationary)"
THOSE = rf"(?P<group>{GROUP})"


class Happening(NamedTuple):
    """An event as the text tells it."""

    frame: int
    kind: str
    objects: tuple[int, ...]


class Reader:
    """Reads the log's text, and answers a question's words by the rules of the prompt."""

    def __init__(self, request: Request) -> None:
        told, _, self.question = request.messages[1].text.partition("\n\nQuestion: ")
        self.looks: dict[int, str] = {}
        self.events: list[Happening] = []
        self.statements: list[tuple[int, int, str]] = []
        for line in told.splitlines():
            match = re.fullmatch(r"Frame (\d+): (.+)\.", line)
            assert match
            self.read_sentence(int(match[1]), match[2])

    def read_sentence(self, frame: int, sentence: str) -> None:
        numbers = tuple(int(number) for number in re.findall(r"\(object (\d+)\)", sentence))
        if match := re.fullmatch(r"Object (\d+) is the (.+)", sentence):
            self.looks[int(match[1])] = match[2]
        elif match := re.fullmatch(
            r"Event \d+: .*?(starts|ends|enters|exits|collide)(?: the scene)?", sentence
        ):
            self.events.append(Happening(frame, match[1], numbers))
        elif numbers:
            self.statements.append((frame, numbers[0], sentence.partition(") ")[2]))

    def group(self, words: str) -> set[int]:
        wanted = set(words.removeprefix("the ").split()) - {"object"}
        return {number for number, looks in self.looks.items() if wanted <= set(looks.split())}

    def event(self, words: str) -> Happening:
        kind = re.search(r"starts|begins|ends|enters|exits|collide", words)
        assert kind
        named = [self.group(thing) for thing in re.findall(THING, words)]
        (happening,) = [
            event
            for event in self.events
            if event.kind == kind[0].replace("begins", "starts")
            and all(any(number in group for number in event.objects) for group in named)
        ]
        return happening

    def spanned(self, kind: str, span: str) -> list[Happening]:
        events = [event for event in self.events if event.kind == kind]
        if not span:
            return events
        word, _, words = span.strip().partition(" ")
        at = self.event(words).frame
        return [event for event in events if (event.frame < at if word == "before" else event.frame > at)]

    def in_state(self, state: str, moment: str | None) -> set[int]:
        if moment is None:
            moved = {number for _, number, words in self.statements if words == "has now been seen moving"}
            return moved if state == "moving" else set(self.looks) - moved
        at, view, motion = self.event(moment).frame, dict[int, str](), dict[int, str]()
        for frame, number, words in self.statements:
            if frame <= at and words.endswith("view"):
                view[number] = words
            elif frame <= at and words in ("is moving", "is at rest"):
                motion[number] = words
        wanted = {"moving": "is moving", "stationary": "is at rest"}[state]
        return {n for n, words in view.items() if words == "is in view" and motion.get(n) == wanted}

    def answer(self) -> str:
        for pattern, rule in RULES.items():
            if match := re.fullmatch(pattern + r"\?", self.question):
                return rule(self, match.groupdict())
        raise AssertionError(f"no rule reads {self.question!r}")


Given = dict[str, str]
CROSSING = {"enter": "enters", "exit": "exits"}


def attribute_of(reader: Reader, numbers: set[int], attribute: str) -> str:
    (number,) = numbers
    return reader.looks[number].split()[("color", "material", "shape").index(attribute)]


def states(reader: Reader, given: Given) -> set[int]:
    return reader.group(given["group"]) & reader.in_state(given["state"], given.get("moment"))


def crossings(reader: Reader, given: Given) -> list[Happening]:
    happenings = reader.spanned(CROSSING[given["verb"]], given["span"])
    return [event for event in happenings if event.objects[0] in reader.group(given.get("group") or "object")]


def meetings(reader: Reader, given: Given) -> list[Happening]:
    named = reader.group(given.get("group") or "object")
    return [event for event in reader.spanned("collide", given["span"]) if named & set(event.objects)]


def ordered(events: list[Happening], order: str | None) -> Happening:
    events = sorted(events, key=lambda event: event.frame)
    return events[{"first": 0, "second": 1, "last": -1}[order]] if order else events[0]


def yes(things: object) -> str:
    return "yes" if things else "no"


def partner(reader: Reader, given: Given) -> str:
    event = ordered(meetings(reader, given), given["order"])
    return attribute_of(reader, set(event.objects) - reader.group(given["group"]), given["attribute"])


WHAT = r"What (?:is the )?(?P<attribute>color|material|shape) (?:is|of) "
ORDER = r"the (?:(?P<order>first|second|last) )?object"
RULES: dict[str, Callable[[Reader, Given], str]] = {
    rf"How many {THOSE}s are {STATE}{MOMENT}": lambda r, g: str(len(states(r, g))),
    rf"How many {STATE} {THOSE}s are there{MOMENT}": lambda r, g: str(len(states(r, g))),
    rf"How many {THOSE}s (?P<verb>enter|exit) the scene{SPAN}": lambda r, g: str(len(crossings(r, g))),
    rf"How many collisions happen{SPAN}": lambda r, g: str(len(meetings(r, g))),
    rf"Are there any {STATE} {THOSE}s{MOMENT}": lambda r, g: yes(states(r, g)),
    rf"Are there any {THOSE}s that (?P<verb>enter|exit) the scene{SPAN}": lambda r, g: yes(crossings(r, g)),
    rf"{WHAT}the {STATE} {THOSE}{MOMENT}": lambda r, g: attribute_of(r, states(r, g), g["attribute"]),
    rf"{WHAT}the {THOSE} that is {STATE}{MOMENT}": lambda r, g: attribute_of(r, states(r, g), g["attribute"]),
    rf"{WHAT}{ORDER} that (?P<verb>enter|exit)s the scene{SPAN}": (
        lambda r, g: attribute_of(r, {ordered(crossings(r, g), g["order"]).objects[0]}, g["attribute"])
    ),
    rf"{WHAT}{ORDER} (?:to|that) collides? with the {THOSE}{SPAN}": partner,
}


@pytest.fixture(scope="module")
def questions() -> list[tuple[Request, Request, str]]:
    """Questions about the sample profile's first videos: the prompt with poses, without, and the gold."""
    prompts = []
    for number in range(10_000, 10_030):
        scene = generate_scene(number, 20)
        log = annotation_log(decode_annotation(("annotation", msgspec.json.encode(scene.annotation))))
        whole, short = log_text(log), log_text(log, poses=False)
        prompts += [
            (request_of(whole, question.question), request_of(short, question.question), question.answer)
            for question in scene.questions.questions
            if question.question_type == "descriptive"
        ]
    return prompts[:QUESTIONS]


@pytest.mark.long
def test_a_reader_of_the_prompt_alone_gives_every_gold(questions: list[tuple[Request, Request, str]]) -> None:
    assert len(questions) == QUESTIONS
    wrong = [
        (whole.messages[1].text.rpartition("\n")[2], reply, gold)
        for whole, _, gold in questions
        if (reply := Reader(whole).answer()) != gold
    ]
    assert not wrong


@pytest.mark.long
def test_no_descriptive_question_needs_a_pose(questions: list[tuple[Request, Request, str]]) -> None:
    assert [Reader(short).answer() for _, short, _ in questions] == [gold for _, _, gold in questions]
    assert all("turned by" in whole.messages[1].text for whole, _, _ in questions)
    assert not any("turned by" in short.messages[1].text for _, short, _ in questions)
