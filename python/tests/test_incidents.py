"""oif.Incidents: episodes that begin together."""

import copy
import math

import pytest

import oif


def outage(incidents):
    """Singles over days, then eight hosts of one rack; returns the number of that incident."""
    for i in range(40):
        key = f"rack-{i % 4}/host-{i}"
        assert incidents.begin(key, column="load", seconds=7200 * i).is_new
        incidents.end(key, seconds=7200 * i + 600)
    places = [
        incidents.begin(f"rack-2/h{i}", column="load", seconds=400_000 + 30 * i, severity=3 + (i == 5)) for i in range(8)
    ]
    assert places[0].is_new and all(place.joins for place in places[1:])
    return places[0].incident


def test_an_outage_is_one_incident():
    incidents = oif.Incidents()
    number = outage(incidents)
    found = incidents[number]
    assert (found.members, found.open, found.is_over) == (8, 8, False)
    assert found.first.key == "rack-2/h0" and found.worst.key == "rack-2/h5"
    assert [member.key for member in found.order] == [f"rack-2/h{i}" for i in range(8)]
    assert found.shared[0][:3] == ("part", "rack-2", 8)
    assert number in incidents.numbers() and len(incidents) == len(incidents.numbers())


def test_an_incident_is_over_when_it_is_quiet():
    incidents = oif.Incidents(quiet_seconds=100)
    incidents.begin("a", seconds=1000)
    assert incidents.end("a", seconds=1050, severity=5).incident == 1
    assert incidents.over() == []
    incidents.advance(1150)
    (over,) = incidents.over()
    assert over.is_over and over.severity == 5 and over.first.end_seconds == 1050
    assert incidents.over() == [] and len(incidents) == 0
    incidents.begin("b", seconds=2000)
    with pytest.raises(KeyError):
        incidents[1]
    incidents.end("b", seconds=2001)
    incidents.finish()
    assert [incident.number for incident in incidents.over()] == [2]


def test_streams_and_rows_without_times():
    incidents = oif.Incidents()
    assert incidents.begin("a", stream="x", sequence=10).incident == 1
    assert incidents.begin("a", stream="y", sequence=11).joins
    assert not incidents.begin("a", stream="y", sequence=12).joins  # known
    assert {member.stream for member in incidents[1].order} == {"x", "y"}
    assert math.isnan(incidents[1].first.end_seconds)


def test_copies_and_pickles_decide_alike():
    incidents = oif.Incidents(max_members=16)
    outage(incidents)
    copies = [oif.Incidents.from_bytes(incidents.to_bytes()), copy.deepcopy(incidents)]
    for i in range(50):
        expected = incidents.begin(f"rack-{i % 3}/x{i}", seconds=400_300 + 200 * i)
        assert all(c.begin(f"rack-{i % 3}/x{i}", seconds=400_300 + 200 * i) == expected for c in copies)


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
