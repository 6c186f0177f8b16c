"""Data sets: found, fetched, refused."""

import io
import subprocess
import sys
import urllib.error
from datetime import datetime, timedelta

import numpy as np
import pytest

from experiments import data, published, synthetic


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No data sets, and no network."""
    monkeypatch.setenv("OIF_DATA", str(tmp_path / "sets"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def offline(url, timeout):
        raise urllib.error.URLError("no network in this test")

    monkeypatch.setattr(data.urllib.request, "urlopen", offline)
    return tmp_path


def test_a_set_that_is_absent_says_where_it_was_looked_for_and_what_to_do(nowhere):
    with pytest.raises(data.DataMissing) as missing:
        data.load("Shuttle")
    assert str(nowhere / "sets") in str(missing.value) and "Shuttle" in str(missing.value)
    with pytest.raises(data.DataMissing) as missing:
        data.obtain("Shuttle")
    for part in ("Shuttle", "32_shuttle.npz", "no network in this test", "OIF_DATA", str(nowhere / "sets")):
        assert part in str(missing.value)


def test_the_command_ends_with_that_message(nowhere):
    program = (
        "import sys, urllib.request, urllib.error\n"
        "def offline(*a, **k): raise urllib.error.URLError('unplugged')\n"
        "urllib.request.urlopen = offline\n"
        "from experiments.__main__ import main\n"
        "sys.argv = ['experiments', '--only', 'auc', '--results', sys.argv[1]]\n"
        "sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(nowhere)], cwd=published.CHECKOUT, capture_output=True, text=True
    )
    assert done.returncode == 1 and "unplugged" in done.stderr and "Traceback" not in done.stderr
    assert done.stderr.startswith("experiments: no data set Donors")


def serve(monkeypatch, content):
    class Reply(io.BytesIO):
        headers = {"Content-Length": str(len(content))}

    asked = []
    monkeypatch.setattr(data.urllib.request, "urlopen", lambda url, timeout: asked.append(url) or Reply(content))
    return asked


def test_a_set_is_fetched_once_and_compared_with_its_checksum(nowhere, monkeypatch):
    arrays = {"X": np.arange(12.0).reshape(4, 3), "y": np.array([0, 1, 0, 0])}
    file = io.BytesIO()
    np.savez(file, **arrays)
    asked = serve(monkeypatch, file.getvalue())
    with pytest.raises(data.DataMissing, match="not the one expected"):
        data.obtain("Shuttle")
    assert data.find("Shuttle.npz") is None, "what is wrong is not kept"

    right = data.HOMES["Shuttle"]._replace(checksum=data.checksum(arrays))
    monkeypatch.setitem(data.HOMES, "Shuttle", right)
    data.obtain("Shuttle")
    loaded = data.load("Shuttle")
    assert np.array_equal(loaded.rows, arrays["X"]) and loaded.anomalous.tolist() == [False, True, False, False]
    assert asked == [data.RAW + right.addresses[0]] * 2


def taxi_csv(windows):
    """The public series, from the windows made of it."""
    values = np.concatenate([windows[0], windows[1:, -1]])
    times = [datetime(2014, 7, 1) + timedelta(minutes=30 * i) for i in range(len(values))]
    return "timestamp,value\n" + "".join(f"{time},{value:.0f}\n" for time, value in zip(times, values))


def test_taxi_windows_are_labelled_by_their_last_half_hour():
    passengers = np.arange(10320.0)
    windows = np.lib.stride_tricks.sliding_window_view(passengers, 48)
    arrays = data.shingles_of_taxi_csv([taxi_csv(windows).encode()])
    assert arrays["X"].shape == (10273, 48) and arrays["y"].sum() == 536
    assert np.array_equal(arrays["X"], windows)
    independence_day = 3 * 48 - 47  # the window that ends at midnight of July 4th
    assert arrays["y"][independence_day - 1 : independence_day + 2].tolist() == [0, 1, 1]


@pytest.mark.parametrize("make, name", [(synthetic.mulcross, "Mulcross"), (synthetic.insects, "insects_synth_standin")])
def test_generated_sets_are_those_of_the_table(make, name):
    assert data.checksum(make()) == data.HOMES[name].checksum


def test_the_whole_fraud_set_and_insects_are_used_when_a_user_has_them(nowhere):
    folder = nowhere / "sets"
    folder.mkdir()
    quoted = "".join(f'{i},{",".join(["0.5"] * 28)},{i},"{i % 2}"\n' for i in range(4))
    header = ",".join(f'"{name}"' for name in ["Time", *(f"V{i}" for i in range(1, 29)), "Amount", "Class"])
    (folder / "creditcard.csv").write_text(f"{header}\n{quoted}")
    fraud = data.load("fraud")
    assert fraud.rows.shape == (4, 29) and fraud.rows[3, 28] == 3 and fraud.anomalous.tolist() == [False, True] * 2
    assert fraud.stands_for == "fraud" and data.is_here("fraud")

    rows = "".join(f"{','.join(['1'] * 33)},{kind}\n" for kind in (2, 12, 5, 7))
    (folder / "INSECTS-abrupt_imbalanced.csv").write_text(rows)
    insects = data.load("INSECTS")
    assert insects.rows.shape == (3, 33) and insects.anomalous.tolist() == [False, False, True]
    assert data.choose_drifting(may_obtain=False) == ["INSECTS"]


def test_what_is_not_the_papers_is_labelled():
    for name in ("fraud_partial", "Mulcross", "insects_synth_standin", "insects_aedes_standin"):
        assert data.NOTES[name] and data.TITLES[name] != name
