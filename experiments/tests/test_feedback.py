"""Clicks on useless alerts: what counts as a repeat, as lost and as lost with its kind; the table and the limits."""

import numpy as np

from experiments.feedback import __main__ as command
from experiments.feedback import library, replay
from experiments.feedback.library import Kind
from experiments.feedback.replay import Click, Episode, Outcome, Run
from experiments.reality import limits
from experiments.reality.measures import Span
from experiments.reality.series import Series

HIGH, LOW, STUCK = Kind(0, 1, "values"), Kind(0, -1, "values"), Kind(1, 0, "stuck")


def make_run(*episodes):
    return Run(episodes, np.zeros(1000, dtype=bool), (), b"")


def make_outcome(family="SYN", **values):
    numbers = dict.fromkeys(Outcome._fields[2:-1], 0) | values
    return Outcome(family, "one", *numbers.values(), is_same_after_restart=True)


def test_the_structs_have_the_sizes_of_the_header():
    for name, size in library.SIZES:
        assert library.ctypes.sizeof(getattr(library, name)) == size, name


def test_a_repeat_is_useless_of_a_clicked_kind_and_after_its_first_click():
    clicked = replay.first_clicks((Click(100, HIGH, ()), Click(200, STUCK, ()), Click(300, HIGH, ())))
    assert clicked == {HIGH: 100, STUCK: 200}
    episodes = (
        Episode(50, HIGH, True),  # before
        Episode(100, HIGH, True),  # the clicked one itself
        Episode(150, STUCK, True),  # before its click
        Episode(250, HIGH, True),
        Episode(260, HIGH, False),  # finds an event
        Episode(270, LOW, True),  # another kind
        Episode(280, STUCK, True),
    )
    assert replay.repeats(episodes, clicked) == 2


def test_an_event_is_of_a_clicked_kind_if_no_other_kind_found_it():
    clicked, event = {HIGH: 100}, Span(200, 220)
    assert replay.is_of_kinds(event, make_run(Episode(205, HIGH, False)), clicked)
    assert not replay.is_of_kinds(event, make_run(Episode(205, HIGH, False), Episode(210, LOW, False)), clicked)
    assert replay.is_of_kinds(event, make_run(Episode(190, HIGH, False), Episode(300, LOW, False)), clicked)
    assert not replay.is_of_kinds(event, make_run(Episode(90, HIGH, False)), clicked)  # began before the click


def test_times_are_seconds():
    rows, labels = np.zeros((2, 1)), np.zeros(2, dtype=bool)

    def seconds(times):
        return replay.seconds_of(Series("SYN", "one", ("a",), rows, times, labels, 0, 0, ("a",))).tolist()

    assert seconds(("1700000000", "1700000000.5")) == [1700000000, 1700000000.5]
    assert seconds(("1970-01-01 00:00:01", "1970-01-02T00:00:00")) == [1, 86400]
    assert np.isnan(seconds(None)).all()


def test_the_table_has_a_line_for_each_family_and_for_all_but_one():
    outcomes = [make_outcome("A", repeats=3), make_outcome("B", repeats=4), make_outcome("A", repeats=5)]
    lines = command.lines_of(outcomes, True)
    assert [(line.title, line.repeats) for line in lines] == [
        ("A", 8),
        ("B", 4),
        ("all", 12),
        ("without A", 4),
        ("without B", 8),
    ]
    text = command.table(lines, False).splitlines()
    assert len(text) == 6 and len(set(map(len, text))) == 1
    assert command.table(lines, True).splitlines()[1].startswith("| --- |")


def test_limits_notice_repeats_that_are_left_and_events_that_are_lost():
    given = limits.read(command.LIMITS)[limits.QUICK]
    good = make_outcome(repeats=10, repeats_left=2, events=100, found=60, lost=6, lost_kind=5)
    assert not limits.check(command.measured([good]), given).failures
    for bad in (
        good._replace(repeats_left=3),
        good._replace(lost_kind=4),
        good._replace(is_same_after_restart=False),
    ):
        assert len(limits.check(command.measured([bad]), given).failures) == 1
