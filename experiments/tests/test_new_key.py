"""The start of a new key: the guard, what counts as an alert, and one small fleet from end to end."""

import numpy as np

from experiments import new_key
from experiments.new_key import Guard, Stream


def test_the_guard_begins_after_its_first_rows_and_ends_for_good():
    severity = np.full(100, 0.3)
    severity[40:60] = 2
    held = np.flatnonzero(new_key.agrees(severity, Guard(10, 1, 0.25, False)))
    assert held.tolist() == list(range(9, 53))  # 14 of 54 rows are more than a quarter
    held = np.flatnonzero(new_key.agrees(severity, Guard(10, 1, 0.25, True)))
    assert held.tolist() == list(range(9, 42))  # 3 of the last 10 are


def test_alerts_in_close_succession_are_one_and_the_own_model_takes_over():
    none = np.zeros(100, dtype=bool)
    early, own, ready = none.copy(), none.copy(), none.copy()
    early[[3, 20, 30, 36, 90]] = own[[40, 80]] = True
    ready[60:] = True
    stream = Stream("similar", None, ready, {"own": own, "common": early}, {"common": np.full(100, 0.3)})
    assert new_key.begins_of(stream, "common", None) == [3, 20, 80]
    assert new_key.begins_of(stream, "common", Guard(10, 1, 0.25, False)) == [20, 80]


def test_a_key_that_waits_for_48_rows_finds_as_much_alone_as_with_a_common_model():
    fleet = new_key.synthetic("similar", 0, hosts=4)
    streams = new_key.streams_of(("similar", 0, fleet, 0.001, 1))
    blank, alerts = new_key.count(streams, "own", None)
    common, _ = new_key.count(streams, "common", None)
    assert blank > 0.4 and alerts < 100 and abs(common - blank) < 0.1
