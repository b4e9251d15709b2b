"""Ancestry on small logs, the conditions of Proposition 1, and the smallest counter-examples to its printed
form.
"""

from __future__ import annotations

import pytest

from substrate import Event, ParameterError, ancestors
from substrate.cause import ancestors_as_printed, ancestors_global_frame, causal_chain, conditions, verdicts


def event(name: str, tick: int, objects: str) -> Event:
    return Event(name, tick, frozenset(objects))


def occurs(log: list[Event], removed: str) -> dict[object, bool]:
    return {name: verdict.occurs for name, verdict in verdicts(log, removed).items()}


def test_events_of_one_tick_are_no_ancestors_of_each_other() -> None:
    log = [event("a", 1, "xy"), event("b", 1, "yz"), event("c", 2, "z")]
    assert ancestors(log)["b"].events == frozenset()
    assert ancestors(log)["c"].events == {"b"}


def test_algorithm_1_as_printed_misses_ancestors_of_definition_1() -> None:
    """The smallest log: an object first reached by an early tick is not looked at again from a later one."""
    log = [event("early", 1, "ac"), event("missed", 2, "c"), event("late", 3, "bc"), event("e", 4, "ab")]
    assert ancestors(log)["e"].events == {"early", "missed", "late"}
    assert ancestors_as_printed(log)["e"].events == {"early", "late"}


def test_one_global_frame_admits_chains_that_run_backward() -> None:
    log = [event("link", 1, "ab"), event("after", 2, "bc"), event("e", 3, "a")]
    assert ancestors(log)["e"].events == {"link"}
    assert ancestors_global_frame(log)["e"].events == {"link", "after"}


def test_a_chain_says_why() -> None:
    log = [event("push", 1, "xa"), event("aside", 2, "a"), event("pass", 3, "ab"), event("fall", 5, "b")]
    assert [step.id for step in causal_chain(log, "fall", "push")] == ["push", "pass", "fall"]
    with pytest.raises(ParameterError, match="not an ancestor"):
        causal_chain(log, "push", "fall")
    with pytest.raises(ParameterError, match="unknown event"):
        causal_chain(log, "push", "unknown")
    with pytest.raises(ParameterError, match="two events are named 'push'"):
        ancestors([*log, event("push", 9, "x")])


# The printed statement


def test_ancobj_without_the_events_own_participants_fails_on_one_event() -> None:
    """Counter-example 1: with AncObj(e) as printed, one event and its only participant refute the
    proposition.
    """
    log = [event("e", 1, "x")]
    printed = frozenset().union(*(e.objects for e in log if e.id in ancestors(log)["e"].events))
    assert "x" not in printed, "so the proposition would say that e occurs without x"
    assert occurs(log, "x") == {"e": False}
    assert conditions(log, "x", declared="x", without=[]).status == "proven"


def test_a_shared_participant_is_no_dependence() -> None:
    """Counter-example 2: two events, two objects; C1, C2, C3 hold and the proposition does not."""
    log = [event("touch", 1, "xa"), event("leave", 2, "a")]
    world = [event("leave", 2, "a")]
    report = conditions(log, "x", declared="xa", without=world)
    assert (report.c1.holds, report.c2.holds, report.c3.holds) == (True, True, True)
    assert (report.failed, report.c4.witnesses, report.status) == (("C4",), ("leave",), "heuristic")
    assert occurs(log, "x")["leave"] is False, "the ancestry says it does not occur; it does"


def test_what_the_log_hides_breaks_c1_unseen_and_c2_seen() -> None:
    """Counter-example 3: an unrecorded push; nothing in the log can show it, the second world does."""
    log = [event("leave", 2, "a")]
    report = conditions(log, "x", declared="xa", without=[])
    assert report.c1.holds, "every participant is declared: from the log alone C1 looks well"
    assert (report.failed, report.c2.witnesses) == (("C2",), ("leave",))
    assert occurs(log, "x")["leave"] is True


def test_an_emergent_event_can_prevent_one_that_does_not_descend() -> None:
    """Counter-example 4: without x, a reaches b and keeps it from leaving; C3 fails, and with it C2."""
    log = [event("block", 1, "xa"), event("leave", 3, "b")]
    report = conditions(log, "x", declared="xab", without=[event("crash", 2, "ab")])
    assert report.failed == ("C2", "C3")
    assert report.c3.witnesses == ("crash",)
    assert occurs(log, "x")["leave"] is True


def test_an_emergent_event_alone_leaves_the_observed_ones_right() -> None:
    """C3 is not needed for observed events once C2 holds: it is what makes them all that happens."""
    log = [event("block", 1, "xa"), event("leave", 1, "b")]
    world = [event("leave", 1, "b"), event("crash", 2, "ab")]
    assert conditions(log, "x", declared="xab", without=world).failed == ("C3",)
    happening = {name for name, happens in occurs(log, "x").items() if happens}
    assert happening == {e.id for e in world if e in log} != {e.id for e in world}


def test_a_shift_in_time_breaks_c2() -> None:
    assert conditions([event("leave", 1, "b")], "x", without=[event("leave", 2, "b")]).failed == ("C2",)


def test_an_undeclared_participant_breaks_c1() -> None:
    report = conditions([event("e", 1, "ab")], "x", declared="a")
    assert (report.c1.holds, report.c1.witnesses) == (False, ("b",))


def test_without_a_second_world_nothing_is_proven_but_what_takes_part_itself() -> None:
    log = [event("push", 1, "xa"), event("fall", 2, "a"), event("rain", 2, "z")]
    unproven = verdicts(log, "x", declared="xaz")
    assert {name: verdict.status for name, verdict in unproven.items()} == {
        "push": "proven",
        "fall": "heuristic",
        "rain": "heuristic",
    }
    proven = verdicts(log, "x", declared="xaz", without=[event("rain", 2, "z")])
    assert {verdict.status for verdict in proven.values()} == {"proven"}
    assert [name for name, verdict in proven.items() if verdict.occurs] == ["rain"]


def test_events_of_two_worlds_are_matched_by_what_they_are() -> None:
    log = [Event(1, 4, frozenset("ab")), Event(2, 5, frozenset("x"))]
    world = [Event(1000, 4, frozenset("ab"))]
    assert conditions(log, "x", declared="abx", without=world, same=lambda e: e.objects).status == "proven"
    assert conditions(log, "x", declared="abx", without=world).failed == ("C2", "C3")


def test_an_event_that_happens_without_its_own_participant_breaks_c4_itself() -> None:
    log = [event("one", 1, "xa"), event("two", 2, "xa")]
    assert conditions(log, "x", without=log).c4.witnesses == ("one", "two")
