"""The adapter within the real CapyMOA, which brings a Java virtual machine; `tools/test/test_capymoa.sh` runs this."""

import sys

import capymoa.base
from capymoa.anomaly.datasets import TinyBlobs
from capymoa.evaluation import AnomalyDetectionEvaluator

import oif
import oif.capymoa


def auc_of(learner, ours):
    """The AUC on CapyMOA's stream by CapyMOA's evaluator; the scores must be those of the detector alone."""
    stream = TinyBlobs()
    evaluator = AnomalyDetectionEvaluator(stream.get_schema())
    while stream.has_more_instances():
        instance = stream.next_instance()
        score = learner.score_instance(instance)
        assert score == ours.score_one(instance.x)
        evaluator.update(instance.y_index, score)
        learner.train(instance)
        ours.learn_one(instance.x)
    return evaluator.auc()


def main():
    failed = 0
    for name in oif.capymoa.__all__:
        learner = getattr(oif.capymoa, name)(schema=TinyBlobs().get_schema(), window_size=100, seed=1)
        auc = auc_of(learner, getattr(oif, name)(window_size=100, seed=1))
        good = isinstance(learner, capymoa.base.AnomalyDetector) and auc > 0.6
        failed += not good
        print(f"{'ok' if good else 'FAILED'} {learner}: AUC {auc:.3f}")
    print(f"{len(oif.capymoa.__all__) - failed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
