"""The scales of the detectors are those that were measured, of the detectors as they are."""

import json
import re

from experiments.published import CHECKOUT
from experiments.reality import calibration

HOW = "a detector or its scale has changed: experiments/run.sh calibration --accept"


def kept():
    return json.loads(calibration.FILE.read_text())


def test_every_detector_has_a_scale_that_was_measured():
    scales = calibration.scales_of_sources()
    assert set(scales) == set(calibration.GOLDEN) == set(kept())
    assert {name: (one["usual"], one["per_decade"]) for name, one in kept().items()} == scales, HOW


def test_the_detectors_are_those_that_were_measured():
    assert {name: one["golden"] for name, one in kept().items()} == calibration.fingerprints(), HOW


def test_the_scales_are_near_what_was_measured():
    for name, one in kept().items():
        assert abs(one["usual"] - one["measured_usual"]) <= 0.5 * one["per_decade"], name
        assert 0.5 <= one["per_decade"] / one["measured_per_decade"] <= 2, name


def test_the_page_names_the_same_scales():
    text = (CHECKOUT / "docs" / "algorithms" / "judges.md").read_text()
    rows = re.findall(r"^\| `([a-z-]+)` \| [^|]+ \| (-?[\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE)
    assert {name: calibration.Scale(float(usual), float(pace)) for name, usual, pace in rows} == calibration.scales_of_sources()


def test_a_changed_score_is_noticed(monkeypatch):
    before = calibration.fingerprints()
    golden = (CHECKOUT / "tests" / "golden" / "scores.txt").read_text()
    changed = re.sub(r"^hst_as_created \S+", "hst_as_created 0123456789abcdef", golden, flags=re.MULTILINE)
    monkeypatch.setattr(type(CHECKOUT), "read_text", lambda path: changed)
    after = calibration.fingerprints()
    assert [name for name in before if before[name] != after[name]] == ["hst"]
