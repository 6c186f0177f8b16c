"""The adapters pass the checks that their hosts have for their own detectors, none left out."""

import ast
import doctest
import pickle
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from conftest import same_bits

import oif
from oif import _detectors

NAMES = _detectors.__all__


def credit_card_like(count):
    """River takes its CreditCard data set from the network. These rows have its shape: thirty features, few frauds."""
    random = np.random.default_rng(7)
    for i in range(count):
        fraud = i % 50 == 49
        x = {f"V{j}": random.normal() + (4 if fraud and j % 3 == 0 else 0) for j in range(1, 29)}
        yield {"Time": float(i), **x, "Amount": abs(random.normal()) * 80}, int(fraud)


# ---- River ----


@pytest.fixture
def no_network(monkeypatch):
    datasets = pytest.importorskip("river.datasets")

    class CreditCard:
        def take(self, count):
            return credit_card_like(count)

    monkeypatch.setattr(datasets, "CreditCard", CreditCard)


@pytest.mark.parametrize("name", NAMES)
def test_river_checks(name, no_network):
    from river import checks

    import oif.river

    model = getattr(oif.river, name)()
    assert not list(model._unit_test_skips())
    checks.check_estimator(model)


def test_river_scores_are_ours():
    import oif.river

    ours, theirs = oif.OnlineIsolationForest(seed=5), oif.river.OnlineIsolationForest(seed=5)
    stream = [dict(sorted(x.items(), key=lambda item: str(item[0]))) for x, _ in credit_card_like(300)]
    for x in stream:
        assert theirs.score_one(x) == (ours.score_one(x) if ours.ready else 0)
        ours.learn_one(x)
        theirs.learn_one(x)


def test_river_pipelines_and_filters():
    from river import anomaly, compose, evaluate, metrics, preprocessing

    import oif.river

    model = compose.Pipeline(preprocessing.StandardScaler(), oif.river.OnlineIsolationForest())
    auc = evaluate.progressive_val_score(credit_card_like(6000), model, metrics.ROCAUC(n_thresholds=200))
    assert auc.get() > 0.85  # with the first 512 rows, scored 0

    model = compose.Pipeline(
        preprocessing.StandardScaler(), anomaly.QuantileFilter(oif.river.OnlineIsolationForest(), q=0.98)
    )
    found = {0: 0, 1: 0}
    for x, y in credit_card_like(2000):
        found[y] += model["QuantileFilter"].classify(model.score_one(x))
        model.learn_one(x)
    assert found[1] > 20 and found[0] < 250, found


def test_river_before_0_26():
    """AnomalyDetector was in river.anomaly.base; Python 3.9 has no later River."""
    from river import base

    if not hasattr(base, "AnomalyDetector"):
        return  # it is such a River, and the other tests show that it works
    program = """
import sys, types
import river.anomaly, river.base
old = types.ModuleType("river.anomaly.base")
old.AnomalyDetector = river.base.AnomalyDetector
del river.base.AnomalyDetector
sys.modules["river.anomaly.base"] = river.anomaly.base = old
import oif.river
assert issubclass(oif.river.Loda, old.AnomalyDetector)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)


def test_river_empty_rows():
    import oif.river

    model = oif.river.OnlineIsolationForest()
    model.learn_one({})
    assert model.score_one({}) == 0
    model.learn_one({"a": 1.0})
    model.learn_one({})
    assert model.score_one({}) >= 0


# ---- scikit-learn ----


@pytest.mark.parametrize("name", NAMES)
def test_sklearn_checks(name):
    from sklearn.utils.estimator_checks import check_estimator

    import oif.sklearn

    results = check_estimator(getattr(oif.sklearn, name)(), on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}
    skipped = {result["check_name"] for result in results if result["status"] == "skipped"}
    assert skipped <= {"check_array_api_input"}, "scikit-learn skips what needs a package or setting that is not there"


def test_sklearn_fit_and_partial_fit():
    from sklearn.base import clone
    from sklearn.model_selection import cross_val_score  # noqa: F401
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import oif.sklearn

    rows = np.random.default_rng(2).normal(size=(3000, 4))
    whole = oif.sklearn.OnlineIsolationForest(seed=3, shuffle=False).fit(rows)
    parts = clone(whole)
    for part in np.array_split(rows, 7):
        parts.partial_fit(part)
    assert same_bits(whole.score_samples(rows), parts.score_samples(rows))
    ours = oif.OnlineIsolationForest(seed=3)
    ours.learn(rows)
    assert same_bits(-ours.score(rows), whole.score_samples(rows))
    assert abs((whole.predict(rows) == -1).mean() - 0.1) < 0.01
    assert make_pipeline(StandardScaler(), clone(whole)).fit(rows).predict([[9, 9, 9, 9]]) == [-1]
    assert same_bits(pickle.loads(pickle.dumps(whole)).score_samples(rows), whole.score_samples(rows))


# ---- PySAD ----


@pytest.mark.parametrize("name", NAMES)
def test_pysad(name):
    pytest.importorskip("pysad")
    from pysad.core.base_model import BaseModel
    from pysad.evaluation import AUROCMetric

    import oif.pysad

    model = getattr(oif.pysad, name)(seed=2)
    assert isinstance(model, BaseModel)
    metric, ours = AUROCMetric(), getattr(oif, name)(seed=2)
    for x, y in credit_card_like(2000):
        row = np.array(list(x.values()))
        score = model.fit_score_partial(row)
        assert score == ours.score_one(row)
        ours.learn_one(row)
        metric.update(y, score)
    assert metric.get() > 0.8
    rows = np.random.default_rng(0).normal(size=(100, 30))
    assert same_bits(model.fit(rows).score(rows), [model.score_partial(row) for row in rows])


# ---- CapyMOA: this has its base class only; tools/test/test_capymoa.sh runs within the real one, which brings Java ----


@pytest.fixture
def capymoa(monkeypatch):
    try:
        import capymoa.base
    except ImportError:

        class AnomalyDetector:  # fmt: skip
            def __init__(self, schema, random_seed=1):
                if schema is None:
                    raise ValueError("Schema must be initialised")
                self.schema, self.random_seed = schema, random_seed

        stand_in = types.ModuleType("capymoa.base")
        stand_in.AnomalyDetector = AnomalyDetector
        package = types.ModuleType("capymoa")
        package.base = stand_in
        monkeypatch.setitem(sys.modules, "capymoa", package)
        monkeypatch.setitem(sys.modules, "capymoa.base", stand_in)
        monkeypatch.delitem(sys.modules, "oif.capymoa", raising=False)
    import oif.capymoa

    return oif.capymoa


@pytest.mark.parametrize("name", NAMES)
def test_capymoa(name, capymoa):
    class Instance:
        def __init__(self, x):
            self.x = x

    with pytest.raises(ValueError, match="Schema"):
        getattr(capymoa, name)()
    learner, ours = getattr(capymoa, name)(schema=object(), seed=4), getattr(oif, name)(seed=4)
    for x, _ in credit_card_like(300):
        row = np.array(list(x.values()))
        assert learner.score_instance(Instance(row)) == ours.score_one(row)
        learner.train(Instance(row))
        ours.learn_one(row)
    assert learner.predict(Instance(row)) is None and learner.random_seed == 4 and name in str(learner)


# ---- PyOD ----


@pytest.mark.parametrize("name", NAMES)
def test_pyod(name):
    base = pytest.importorskip("pyod.models.base")
    from sklearn.base import clone

    import oif.pyod

    random = np.random.default_rng(3)
    rows = random.normal(size=(1500, 4))
    rows[::50] += 9
    model = getattr(oif.pyod, name)(contamination=0.02, seed=2)
    assert isinstance(model, base.BaseDetector)
    model.fit(rows)
    assert model.labels_.sum() == pytest.approx(30, abs=2) and set(model.labels_) == {0, 1}
    assert (model.predict(rows) == model.labels_).all() and model.threshold_ > 0
    probability = model.predict_proba(rows)
    assert probability.shape == (1500, 2) and np.allclose(probability.sum(axis=1), 1)
    assert same_bits(model.decision_function(rows), model.decision_scores_)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert same_bits(again.decision_function(rows), model.decision_scores_)
    with pytest.raises(ValueError, match="contamination"):
        getattr(oif.pyod, name)(contamination=0.7)


# ---- All ----


@pytest.mark.parametrize("host", ["river", "sklearn", "pyod", "pysad"])
def test_the_examples_of_the_modules(host):
    pytest.importorskip(host)
    module = __import__(f"oif.{host}", fromlist=["x"])
    failed, attempted = doctest.testmod(module)
    assert failed == 0 and attempted > 0


@pytest.mark.parametrize("host", ["river", "sklearn", "pyod", "pysad", "capymoa"])
def test_type_checkers_know_the_classes_that_a_module_makes(host):
    tree = ast.parse((Path(oif.__file__).parent / f"{host}.py").read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    assert sorted(node.name for node in block.body if isinstance(node, ast.ClassDef)) == sorted(NAMES)


@pytest.mark.parametrize("host", ["river", "sklearn", "pyod", "pysad"])
@pytest.mark.parametrize("name", NAMES)
def test_adapters_have_the_parameters_of_the_detectors(host, name):
    import inspect

    module = __import__(f"oif.{host}", fromlist=["x"])
    own = inspect.signature(getattr(oif, name)).parameters
    ours = {key: own[key] for key in own if own[key].kind is not inspect.Parameter.KEYWORD_ONLY}  # without threads and such
    theirs = inspect.signature(getattr(module, name)).parameters
    assert list(theirs)[: len(ours)] == list(ours)
    assert all(theirs[key].default == ours[key].default for key in ours)
    assert "seed" in getattr(module, name).__doc__
    with pytest.raises(TypeError):
        getattr(module, name)(trees=3)


# ---- What these tests found ----


@pytest.mark.parametrize("name", ["OnlineIsolationForest", "RollingIsolationForest", "IForestASD"])
def test_sklearn_fit_learns_these_rows_and_not_the_last_window(name):
    """Rows in two states, the second one at the end; anomalies are in between."""
    from sklearn.metrics import roc_auc_score

    import oif.sklearn

    random = np.random.default_rng(5)
    rows = random.normal(size=(20000, 3))
    rows[16000:] += 20
    labels = random.random(len(rows)) < 0.01
    rows[labels] = random.normal(10, 1, size=(labels.sum(), 3))
    cls = getattr(oif.sklearn, name)
    model = cls().fit(rows)
    assert roc_auc_score(labels, -model.score_samples(rows)) > 0.9
    assert roc_auc_score(labels, -cls(shuffle=False).fit(rows).score_samples(rows)) < 0.5
    assert same_bits(cls().fit(rows).score_samples(rows), model.score_samples(rows)), "the sample is seeded"
    few = rows[: model.window_size]
    assert same_bits(cls().fit(few).score_samples(few), cls(shuffle=False).fit(few).score_samples(few))


def test_sklearn_names_of_the_seed_and_the_threads():
    import oif.sklearn

    rows = np.random.default_rng(2).normal(size=(3000, 4))
    seeded = oif.sklearn.Loda(seed=7).fit(rows).score_samples(rows)
    assert same_bits(seeded, oif.sklearn.Loda(random_state=7).fit(rows).score_samples(rows))
    drawn = oif.sklearn.Loda(random_state=np.random.RandomState(3)).fit(rows).score_samples(rows)
    assert not same_bits(seeded, drawn)
    assert oif.sklearn.Loda(n_jobs=2).fit(rows).detector_.threads == 2
    assert 1 <= oif.sklearn.Loda(n_jobs=-1).fit(rows).detector_.threads <= 16
    with pytest.raises(ValueError, match="contamination must be 'auto' or a number"):
        oif.sklearn.Loda(contamination=2).fit(rows)


def test_sklearn_contamination_may_be_found_out():
    import oif.sklearn

    random = np.random.default_rng(2)
    rows = random.normal(size=(2000, 3))
    rows[::100] += 30
    model = oif.sklearn.RollingIsolationForest(contamination="auto").fit(rows)
    outliers = model.predict(rows) == -1
    assert outliers[::100].all() and outliers.sum() < 40


def test_river_sees_the_memory_of_a_detector():
    import oif.river

    model = oif.river.OnlineIsolationForest()
    for x, _ in credit_card_like(300):
        model.learn_one(x)
    assert model._raw_memory_usage > model.detector.memory_bytes > 100_000


def test_river_takes_many_rows_at_once():
    import pandas

    import oif.river

    frame = pandas.DataFrame([x for x, _ in credit_card_like(600)], index=range(1000, 1600))
    one, many = oif.river.OnlineIsolationForest(seed=2), oif.river.OnlineIsolationForest(seed=2)
    assert (many.score_many(frame) == 0).all()
    many.learn_many(frame)
    for x in frame.to_dict("records"):
        one.learn_one(x)
    scores = many.score_many(frame[::-1])
    assert scores.index.equals(frame.index[::-1]) and same_bits(scores, [one.score_one(x) for x in frame[::-1].to_dict("records")])
