"""oif.Incidents: episodes that begin together."""

import copy
import math

import pytest

import oif


def outage(incidents):
    """Eight hosts of one rack; returns the number of their incident."""
    places = [incidents.begin(f"rack-2/h{i}", column=f"c{i}", seconds=30 * i, severity=3 + (i == 5), reason=f"c{i} high") for i in range(8)]
    assert places[0].is_new and all(place.joins for place in places[1:])
    return places[0].incident


def test_an_outage_is_one_incident():
    incidents = oif.Incidents()
    number = outage(incidents)
    found = incidents[number]
    assert (found.members, found.open, found.is_over) == (8, 8, False)
    assert found.worst.key == "rack-2/h5" and found.worst.reason == "c5 high"
    assert [member.key for member in found.order] == [f"rack-2/h{i}" for i in range(8)]
    assert found.shared == (("part", "rack-2"),)
    assert incidents.numbers() == [number] and len(incidents) == 1


def test_an_incident_is_over_with_its_last_episode():
    incidents = oif.Incidents(window_seconds=100)
    incidents.begin("a", column="c", seconds=1000)
    assert incidents.begin("b", column="c", seconds=1100).joins
    assert incidents.begin("e", column="c", seconds=1300).is_new
    assert not incidents.end("a", seconds=1050, severity=5).is_over
    place = incidents.end("b", seconds=1150)
    assert place.is_over and place.peak_before == 5
    assert incidents[1].is_over and incidents[1].severity == 5 and incidents[1].order[0].end_seconds == 1050
    assert incidents.numbers() == [2]
    incidents.begin("z", seconds=2000)
    with pytest.raises(KeyError):
        incidents[1]


def test_streams_and_rows_without_times():
    incidents = oif.Incidents()
    assert incidents.begin("a", stream="x", column="c", seconds=10).incident == 1
    assert incidents.begin("a", stream="y", column="c", seconds=11).is_new  # streams do not join
    assert not incidents.begin("a", stream="y", column="c", seconds=12).joins  # known
    assert incidents.begin("b", stream="y", column="c").joins  # at the time of the last event
    assert [member.stream for member in incidents[2].order] == ["y", "y"]
    assert math.isnan(incidents[1].order[0].end_seconds)


def test_copies_and_pickles_decide_alike():
    incidents = oif.Incidents(max_members=16)
    outage(incidents)
    copies = [oif.Incidents.from_bytes(incidents.to_bytes()), copy.deepcopy(incidents)]
    for i in range(50):
        expected = incidents.begin(f"rack-{i % 3}/x{i}", seconds=300 + 20 * i)
        assert all(c.begin(f"rack-{i % 3}/x{i}", seconds=300 + 20 * i) == expected for c in copies)


def test_what_cannot_be_used_is_refused():
    with pytest.raises(oif.ParameterError):
        oif.Incidents(max_members=0)
    with pytest.raises(oif.ParameterError):
        oif.Incidents(colour=1)
    with pytest.raises(TypeError):
        oif.Incidents(3)
    incidents = oif.Incidents()
    with pytest.raises(oif.DataError):
        incidents.begin("a", seconds=math.inf)
    with pytest.raises(oif.SnapshotError):
        oif.Incidents.from_bytes(incidents.to_bytes()[:-1])
    with pytest.raises(oif.SnapshotKindError):
        oif.Incidents.from_bytes(b"not a snapshot at all")
