"""A story in writing: numbered sentences, and questions with the answers and facts that the teller knows."""

from __future__ import annotations

from random import Random

from substrate.domains.babi.format import Question, Statement

PLACES: tuple[str, ...] = ("bathroom", "bedroom", "garden", "hallway", "kitchen", "office")
TOWN: tuple[str, ...] = ("bedroom", "cinema", "kitchen", "office", "park", "school")
PEOPLE: dict[str, str] = {"Daniel": "he", "John": "he", "Mary": "she", "Sandra": "she"}
TOWNSFOLK: tuple[str, ...] = ("Bill", "Fred", "Julie", "Mary")
THINGS: tuple[str, ...] = ("apple", "football", "milk")
GO: tuple[str, ...] = ("moved to", "went to", "went back to", "journeyed to", "travelled to")
GET: tuple[str, ...] = ("got", "took", "grabbed", "picked up")
DROP: tuple[str, ...] = ("dropped", "left", "discarded", "put down")
GIVE: tuple[str, ...] = ("gave", "handed", "passed")


class Tale:
    """The lines of one story, and the random numbers of its teller."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.lines: list[Statement | Question] = []

    @property
    def next_id(self) -> int:
        """The ID of the next line."""
        return len(self.lines) + 1

    @property
    def asked(self) -> int:
        """The number of the story's questions."""
        return sum(isinstance(line, Question) for line in self.lines)

    def say(self, text: str) -> int:
        """Write a sentence; return its ID."""
        self.lines.append(Statement(self.next_id, 0, text))
        return len(self.lines)

    def ask(self, text: str, answer: str, *supporting: int) -> None:
        """Write a question with its gold."""
        self.lines.append(Question(self.next_id, 0, text, answer, tuple(dict.fromkeys(supporting))))

    def there(self) -> str:
        """The optional adverb of handling a thing."""
        return " there" if self.rng.random() < 0.5 else ""
