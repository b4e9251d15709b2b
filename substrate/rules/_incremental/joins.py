"""A rule's query joined on the triples of a state: all of it, or as far as some changes reach.

A solution depends on a triple only where the triple fits one of the query's patterns, those of its
conditions among them. So after a change no solution is touched but those that agree with the changed
triple on the variables of such a pattern. Where a triple that came may only help, or one that went may only
have hindered, solutions are looked for; where it is the other way round, those that there are are looked
at again (semi-naive evaluation, extended to what is absent; cf. Gupta, Mumick and Subrahmanian,
"Maintaining views incrementally", 1993).

Each search is written as a Python function of nested loops and compiled once. Its text holds numbered names
alone: what stands in the TBox is handed to it as values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

from substrate.rules._incremental.facts import (
    BeyondError,
    Fact,
    Facts,
    compared,
    iri_of_text,
    text_after,
    text_of_term,
)
from substrate.rules._incremental.premises import Expression, Group, Pattern, Query

Step = tuple[bool, Fact]
"""A triple that came or went, with True if it came."""
Solution = tuple[str, ...]
"""The terms of a query's variables."""
_Index = Mapping[str, Mapping[str, Mapping[str, None]]]
_Search = Callable[[_Index, _Index, str, "Sequence[str] | None", str, str, set[Solution]], None]
_TAKES = "objects, subjects, tick, foci, subject, object_, found"


class Occurrence(NamedTuple):
    """A pattern of a query, in it or in its conditions, and the search that begins where a triple fits it."""

    helps: bool
    """True if a triple that fits may let a solution be; False if it may keep one from being."""
    agreeing: Callable[[set[Solution], str, str, str], Sequence[Solution]]
    """The solutions that a triple, by its subject and its object, may bear on through this pattern."""
    search: _Search


class Join:
    """A query made ready: its variables, and the searches for its solutions.

    Args:
        query: the query.
        given: the variables that have a value before it runs: ``?tick``, and ``?this`` for a rule with focus
            nodes.
    """

    def __init__(self, query: Query, given: frozenset[str]) -> None:
        self._query = query
        self._focused = "?this" in given
        body = query.body
        mentioned = body.mentioned.union(*(pattern.variables for pattern in query.head))
        made = {name for name, _ in body.names}
        self.variables: tuple[str, ...] = tuple(sorted((body.bound | (mentioned & given)) - {"?tick", *made}))
        """The variables of a solution."""
        self.follows_tick: bool = "?tick" in _decisive(body)
        """True if its solutions depend on the tick."""
        self.tells_tick: bool = any("?tick" in value.variables for _, value in body.names) or any(
            "?tick" in pattern for pattern in query.head
        )
        """True if its result for a solution depends on the tick."""
        self._all = self._search(None)
        self._give = self._giving()

    @cached_property
    def occurrences(self) -> Mapping[str, tuple[Occurrence, ...]]:
        """By predicate, where a changed triple touches solutions."""
        found: dict[str, list[Occurrence]] = {}
        for pattern, helps in _signed(self._query.body):
            occurrence = Occurrence(helps, self._agreeing(pattern), self._search(pattern))
            found.setdefault(pattern.predicate, []).append(occurrence)
        return {predicate: tuple(those) for predicate, those in found.items()}

    def all(self, facts: Facts, tick: str, foci: Sequence[str] | None) -> set[Solution]:
        """Every solution.

        Args:
            facts: the triples.
            tick: the present tick, as a term.
            foci: the focus nodes; ``None`` for a rule that runs once.

        Raises:
            BeyondError: only Oxigraph can judge a value that came up.
        """
        found: set[Solution] = set()
        self._all(facts.objects, facts.subjects, tick, foci, "", "", found)
        return found

    def renew(
        self,
        solutions: set[Solution],
        changes: Iterable[Step],
        facts: Facts,
        tick: str,
        foci: Sequence[str] | None,
    ) -> bool:
        """Bring solutions up to date with some changed triples; whether they may have changed.

        The solutions were right before the changes; the facts are those after them. Arguments and errors
        are those of :meth:`all`.
        """
        before = len(solutions)
        touched = False
        for came, fact in changes:
            for occurrence in self.occurrences.get(fact[1], ()):
                if occurrence.helps is not came:
                    hindered = occurrence.agreeing(solutions, fact[0], fact[2], tick) if solutions else ()
                    if not hindered:
                        continue
                    touched = True
                    solutions.difference_update(hindered)
                occurrence.search(facts.objects, facts.subjects, tick, foci, fact[0], fact[2], solutions)
        return touched or len(solutions) != before

    def gives(self, solutions: Iterable[Solution], tick: str) -> set[str]:
        """The triples that follow from solutions, spelled as in N-Triples.

        Raises:
            BeyondError: as :meth:`all`.
        """
        given: set[str] = set()
        for solution in solutions:
            self._give(solution, tick, given)
        return given

    def _search(self, start: Pattern | None) -> _Search:
        """The search for all solutions, or for those that rest on a triple that fits a pattern."""
        source = _Source()
        known = {"?tick"}
        if start:
            for part, term in ((start.subject, "subject"), (start.object, "object_")):
                if part[0] != "?" or part in known:
                    source.write(f"if {source.name(part)} != {term}: return")
                elif part in self.variables:
                    source.write(f"{source.name(part)} = {term}")
                    known.add(part)
            if start.subject == start.object:
                source.write("if subject != object_: return")
        if self._focused:
            source.write("if not foci: return")
        if self._focused and "?this" in self.variables:
            focus = source.name("?this")
            source.open(f"if {focus} in foci:" if "?this" in known else f"for {focus} in foci:")
            known.add("?this")
        source.group(self._query.body, known)
        source.write(f"found.add(({''.join(f'{source.name(part)}, ' for part in self.variables)}))")
        return source.compiled(_TAKES)

    def _agreeing(self, pattern: Pattern) -> Callable[[set[Solution], str, str, str], Sequence[Solution]]:
        source = _Source()
        tests: list[str] = []
        if pattern.subject == pattern.object:
            source.write("if subject != object_: return ()")
        for part, term in ((pattern.subject, "subject"), (pattern.object, "object_")):
            if part in self.variables:
                tests.append(f"one[{self.variables.index(part)}] == {term}")
            elif part[0] != "?" or part == "?tick":
                source.write(f"if {source.name(part)} != {term}: return ()")
        source.write(f"return [one for one in solutions if {' and '.join(tests) or True}]")
        return source.compiled("solutions, subject, object_, tick")

    def _giving(self) -> Callable[[Solution, str, set[str]], None]:
        source = _Source()
        if self.variables:
            source.write(f"{''.join(f'{source.name(part)}, ' for part in self.variables)} = solution")
        for name, value in self._query.body.names:
            source.write(f"{source.name(name)} = {source.term(value)}")
        for pattern in self._query.head:
            subject, predicate, object_ = map(source.name, pattern)
            if pattern.subject[0] == "?":
                source.write(f"if {subject}[0] != '<': beyond()")
            source.write(f"given.add(f'{{{subject}}} {{{predicate}}} {{{object_}}}')")
        return source.compiled("solution, tick, given")


def _signed(group: Group, *, helps: bool = True) -> Iterator[tuple[Pattern, bool]]:
    """A group's patterns, and whether a triple that fits may help it: not in a group that is to be absent."""
    for pattern in group.patterns:
        yield pattern, helps
    for absent in group.absent:
        yield from _signed(absent, helps=not helps)


def _decisive(group: Group) -> set[str]:
    """The variables of a group's patterns and comparisons, those of the groups in it among them."""
    found = group.bound.union(*(test.variables for test in group.tests))
    return found.union(*map(_decisive, group.absent))


def _beyond(*_: object) -> bool:
    raise BeyondError


class _Source:
    """The text of a Python function as it is written, and the values that it names."""

    def __init__(self, letter: str = "v", names: Mapping[str, str] | None = None) -> None:
        self._letter = letter
        self._names: dict[str, str] = {"?tick": "tick", **(names or {})}
        self._lines: list[str] = []
        self._depth = 1
        self._values: dict[str, object] = {
            "beyond": _beyond,
            "compared": compared,
            "iri_of_text": iri_of_text,
            "text_after": text_after,
            "text_of_term": text_of_term,
        }

    def write(self, line: str) -> None:
        self._lines.append("    " * self._depth + line)

    def open(self, line: str) -> None:
        """Write what a block begins with."""
        self.write(line)
        self._depth += 1

    def name(self, part: str) -> str:
        """The name of a variable, or of a term as a value."""
        if part not in self._names:
            self._names[part] = f"{self._letter}{len(self._names)}" if part[0] == "?" else self._value(part)
        return self._names[part]

    def _value(self, value: object) -> str:
        name = f"k{len(self._values)}"
        self._values[name] = value
        return name

    def compiled(self, takes: str) -> Callable[..., Any]:
        text = "\n".join((f"def function({takes}):", *self._lines, "    return"))
        exec(text, self._values)
        # The line before has put it there
        return self._values.pop("function")  # pyright: ignore[reportReturnType]

    # What has to hold

    def group(self, group: Group, known: set[str]) -> None:
        """Write loops over what fits a group; each next step is the one that has most of its terms."""
        every = known | group.bound
        patterns = list(group.patterns)
        conditions = [(test.variables, partial(self._test, test)) for test in group.tests]
        for absent in group.absent:
            needs = absent.mentioned & every
            conditions.append((needs, partial(self._absent, absent, needs)))
        while True:
            for condition in [one for one in conditions if one[0] <= known]:
                condition[1]()
                conditions.remove(condition)
            if not patterns:
                return
            pattern = max(patterns, key=lambda one: sum(part[0] != "?" or part in known for part in one))
            patterns.remove(pattern)
            self._scan(pattern, known)
            known = known | pattern.variables

    def _scan(self, pattern: Pattern, known: set[str]) -> None:
        subject, predicate, object_ = map(self.name, pattern)
        has_subject, has_object = (
            part[0] != "?" or part in known for part in (pattern.subject, pattern.object)
        )
        if has_subject and has_object:
            self.open(f"if {object_} in objects[{predicate}].get({subject}, ()):")
        elif has_subject:
            self.open(f"for {object_} in objects[{predicate}].get({subject}, ()):")
        elif has_object:
            self.open(f"for {subject} in subjects[{predicate}].get({object_}, ()):")
        elif subject == object_:
            self.open(f"for {subject}, terms in objects[{predicate}].items():")
            self.open(f"if {subject} in terms:")
        else:
            self.open(f"for {subject}, terms in objects[{predicate}].items():")
            self.open(f"for {object_} in terms:")

    def _absent(self, group: Group, needs: set[str]) -> None:
        names = ["objects", "subjects", *sorted(map(self.name, needs | {"?tick"}))]
        # Names of its own have a letter more, so that none is one of those around it
        inner = _Source(self._letter + "v", {part: self.name(part) for part in needs})
        inner.group(group, needs | {"?tick"})
        inner.write("return True")
        self.open(f"if not {self._value(inner.compiled(', '.join(names)))}({', '.join(names)}):")

    # Values

    def _test(self, test: Expression) -> None:
        function, arguments = test
        if function == "STRSTARTS":
            self.open(f"if {self._text(arguments[0])}.startswith({self._text(arguments[1])}):")
            return
        kinds = {_kind(part) for part in arguments}
        if function not in _SIGNS or len(kinds) > 1:
            self.open("if beyond():")
        elif kinds == {"text"}:
            self.open(f"if {self._text(arguments[0])} {_SIGNS[function]} {self._text(arguments[1])}:")
        else:
            left, right = map(self.term, arguments)
            self.open(f"if compared('{function}', {left}, {right}):")

    def term(self, expression: Expression | str) -> str:
        """An expression that gives a term."""
        assert isinstance(expression, Expression)
        function, arguments = expression
        if function == "term":
            return self.name(str(arguments[0]))
        return f"iri_of_text({self._text(arguments[0])})" if function == "IRI" else "beyond()"

    def _text(self, expression: Expression | str) -> str:
        """An expression that gives a string."""
        assert isinstance(expression, Expression)
        function, arguments = expression
        if function == "text":
            return self._value(arguments[0])
        if function == "STR":
            inner = arguments[0]
            if _kind(inner) == "text":
                return self._text(inner)
            name = self.term(inner)
            # An IRI, which most are, is cut where it stands
            plain = name.isidentifier()
            return (
                f"({name}[1:-1] if {name}[0] == '<' else text_of_term({name}))"
                if plain
                else f"text_of_term({name})"
            )
        if function == "CONCAT":
            return f"''.join(({''.join(f'{self._text(part)}, ' for part in arguments)}))"
        if function == "STRAFTER":
            whole, mark = map(self._text, arguments)
            return f"text_after({whole}, {mark})"
        return "beyond()"


_SIGNS: Mapping[str, str] = {"=": "==", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def _kind(expression: Expression | str) -> str:
    assert isinstance(expression, Expression)
    return "text" if expression.function in ("text", "STR", "CONCAT", "STRAFTER") else "term"
