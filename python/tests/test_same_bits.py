"""Python's scores are those of the C library and of the tool, bit for bit."""

import csv
import re
import struct
import subprocess

import numpy as np
import pytest
from conftest import CHECKOUT, DETECTORS, same_bits

import oif
from oif import _core

MASK = (1 << 64) - 1
PLAIN_ROWS, INSERTED_ROWS = 2500, 4500  # as same_bits.c; insertion of rows takes longer to begin
SOURCE = CHECKOUT / "tests" / "same_bits" / "same_bits.c"
GOLDEN = CHECKOUT / "tests" / "golden" / "scores.txt"
KINDS = {cls._kind: cls for cls in DETECTORS}
TYPES = {
    info["name"]: {
        param["name"]: {"integer": int, "real": float, "choice": str}[param["type"]] for param in info["params"]
    }
    for info in _core.detector_infos()
}


def cases():
    """The cases of same_bits.c with plain rows: name, dimension, kind, settings."""
    text = SOURCE.read_text()
    usual = dict(re.findall(r'\{"([a-z-]+)", "([^"]*)"\}', text))
    for name, dimension, settings, kind in re.findall(
        r'\{"(\w+)", (\d+), ROWS_PLAIN, "([^"]*)", (NULL|"[a-z-]+")\}', text
    ):
        kind = "online-iforest" if kind == "NULL" else kind.strip('"')
        chosen = dict(setting.split("=") for setting in (usual[kind] + " " + settings).split())
        yield name, int(dimension), kind, {key: TYPES[kind][key](value) for key, value in chosen.items()}


def splitmix64(state, count):
    """The first numbers of the generator, all at once: its state grows by the same step each time."""
    z = np.uint64(state) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def plain_rows(dimension, count):
    drawn = splitmix64(1, count * dimension * 5).reshape(count, dimension, 5)
    rows = (drawn[:, :, :4] >> np.uint64(44)).sum(axis=2) / 1048576  # the fifth is drawn and not used
    rows[96::97] += 8
    return rows


def fnv(content):
    value = 0xCBF29CE484222325
    for byte in content:
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return f"{value:016x}"


@pytest.fixture(scope="module")
def made_rows():
    return {dimension: plain_rows(dimension, INSERTED_ROWS) for dimension in sorted({case[1] for case in cases()})}


@pytest.mark.parametrize(
    "name, dimension, kind, params", list(cases()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_scores_are_those_of_the_golden_file(name, dimension, kind, params, made_rows):
    golden = {line.split()[0]: line.split()[1:] for line in GOLDEN.read_text().splitlines()}
    rows = made_rows[dimension][: INSERTED_ROWS if name.startswith("row_") else PLAIN_ROWS]
    detector = KINDS[kind](**params)
    scores = detector.learn_score(rows)
    snapshot = detector.to_bytes()
    scores = np.concatenate([scores, oif.load(snapshot).score(rows[:200])])
    assert fnv(struct.pack(f"<{len(scores)}d", *scores)) == golden[name][0]
    if name in ("running", "hst", "rrcf", "loda", "asd", "rolling"):  # hashing a snapshot takes longer than all else
        assert fnv(snapshot) == golden[name][1]


def test_enough_cases_were_found():
    assert len(list(cases())) >= 30


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_program(kind, program, rows, tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text(
        "a,b,c\n" + "".join(",".join("" if x != x else repr(x) for x in row) + "\n" for row in rows.tolist())
    )
    printed = subprocess.run(
        [program, "score", "--freeze=off", "--detector", kind, "--seed", "5", file],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    lines = list(csv.DictReader(printed.splitlines()))
    results = oif.Pipeline(KINDS[kind](seed=5)).process(rows)
    alone = oif.Pipeline(KINDS[kind](seed=5), learn="all", moves="off").process(rows)
    assert same_bits(KINDS[kind](seed=5).learn_score(rows), alone["score"])
    assert same_bits(results["score"], [float(line["score"]) for line in lines])
    assert results["anomaly"].tolist() == [line["anomaly"] == "1" for line in lines]


def test_threads_give_the_same_bits(rows, detector_class):
    many = np.tile(rows, (20, 1))
    one, four = detector_class(), detector_class()
    four.threads = 4
    assert same_bits(one.learn_score(many), four.learn_score(many))
    assert same_bits(one.score(many), four.score(many))
    assert four.threads == 4
    four.threads = 1
    assert same_bits(one.learn_score(many), four.learn_score(many))
    for wrong in (0, 17, -1):
        with pytest.raises(ValueError, match="1 to 16"):
            four.threads = wrong
