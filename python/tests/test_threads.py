"""Threads that share a detector take turns; those that do not, run at the same time. Forked children can go on."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import same_bits

import oif

THREADS = 8


def run_threads(work):
    errors = []

    def guarded(i):
        try:
            work(i)
        except BaseException as error:  # noqa: BLE001
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


@pytest.fixture(autouse=True)
def frequent_switches():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def test_eight_threads_on_one_detector(rows, detector_class, repetitions):
    detector = detector_class()
    blocks = np.tile(rows, (4, 1))

    def work(i):
        for turn in range(5 * repetitions):
            detector.learn(blocks)
            detector.learn_score(rows)
            for row in rows[:50].tolist():
                detector.learn_one(row)
                detector.score_one(row)
            detector.score(np.asfortranarray(rows))
            assert detector.rows_learned > 0 and detector.memory_bytes > 0
            if turn % 2 == i % 2:
                oif.load(detector.to_bytes()).check()
                detector.explain(rows[:3])

    run_threads(work)
    detector.check()
    assert detector.rows_learned == THREADS * 5 * repetitions * (len(blocks) + len(rows) + 50)


def test_the_first_rows_may_come_from_many_threads_at_once(detector_class):
    for _ in range(20):
        detector = detector_class()
        barrier = threading.Barrier(THREADS)

        def work(i, detector=detector, barrier=barrier):
            barrier.wait()
            detector.learn(np.zeros((10, 3)))

        run_threads(work)
        assert detector.rows_learned == 10 * THREADS


def test_rows_of_two_widths_from_many_threads():
    for _ in range(20):
        detector, refused = oif.OnlineIsolationForest(), []

        def work(i, detector=detector, refused=refused):
            try:
                detector.learn(np.zeros((10, 3 + i % 2)))
            except oif.DataError:
                refused.append(i)

        run_threads(work)
        assert len(refused) == THREADS // 2 and detector.rows_learned == 10 * THREADS // 2


def test_eight_threads_on_many_detectors_give_the_usual_bits(rows, detector_class):
    expected = detector_class().learn_score(np.tile(rows, (4, 1)))
    scores = [None] * THREADS

    def work(i):
        detector = detector_class()
        scores[i] = np.concatenate([detector.learn_score(rows) for _ in range(4)])

    run_threads(work)
    assert all(same_bits(expected, one) for one in scores)


def test_eight_threads_on_one_pipeline(rows):
    pipeline = oif.Pipeline(oif.OnlineIsolationForest(window_size=256), max_keys=5)

    def work(i):
        for _ in range(5):
            pipeline.process(rows, [f"{(i + j) % 7}" for j in range(len(rows))], explain="anomalies")
            pipeline.process_one(rows[0], "x")
            pipeline.explain()
            oif.load(pipeline.to_bytes()).check()

    run_threads(work)
    assert pipeline.rows == THREADS * 5 * (len(rows) + 1)


def test_other_threads_run_while_a_block_is_worked_on():
    forest = oif.OnlineIsolationForest(num_trees=512)
    block = np.random.default_rng(0).normal(size=(20_000, 9))
    done = threading.Event()
    thread = threading.Thread(target=lambda: (forest.learn(block), done.set()))
    thread.start()
    steps = 0
    while not done.is_set():
        steps += 1
        time.sleep(0.0005)
    thread.join()
    assert steps > 20


def test_an_interrupt_is_heard_during_a_long_block():
    forest = oif.OnlineIsolationForest(num_trees=512)
    block = np.broadcast_to(np.random.default_rng(0).normal(size=(1, 9)), (4_000_000, 9))
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            forest.learn(block)
        assert forest.rows_learned < len(block)
    finally:
        signal.signal(signal.SIGINT, before)
    forest.check()


def test_a_signal_handler_that_uses_the_detector_gets_an_error_not_a_deadlock():
    forest = oif.OnlineIsolationForest(num_trees=512)
    forest.learn(np.zeros((10, 9)))
    heard = []

    def handler(*_):
        try:
            forest.score_one([0] * 9)
        except RuntimeError as error:
            heard.append(str(error))
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
            while True:
                forest.learn(np.random.default_rng(0).normal(size=(200_000, 9)))
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert heard in (["this thread is using the object already"], [])
    forest.check()


def exit_code_of_child(work):
    """Runs work in a forked child; None when it hangs."""
    child = multiprocessing.get_context("fork").Process(target=work)
    child.start()
    child.join(600)
    if child.is_alive():
        child.kill()
        child.join()
        return None
    return child.exitcode


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_goes_on_with_the_parents_detector(rows, detector_class):
    for threads in (1, 3):
        detector = detector_class()
        detector.threads = threads
        detector.learn(rows)
        detector.process(rows, learn="all")
        expected = detector.clone().learn_score(rows)

        def work(detector=detector, expected=expected):
            assert same_bits(detector.process(rows)["score"], expected)
            detector.threads = 2
            detector.learn(rows)

        assert exit_code_of_child(work) == 0
        assert same_bits(detector.learn_score(rows), expected)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_may_drop_a_detector_with_threads(rows):
    detectors = [oif.OnlineIsolationForest()]
    detectors[0].threads = 3
    detectors[0].learn(rows)
    assert exit_code_of_child(detectors.clear) == 0


NOT_YET = 7


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_while_a_thread_learns_gets_an_error_not_a_hang():
    forest, idle, stop = oif.OnlineIsolationForest(num_trees=512), oif.OnlineIsolationForest(), threading.Event()
    block = np.random.default_rng(0).normal(size=(14_000, 9))
    idle.learn(block[:10])

    def learn_on():
        while not stop.is_set():
            forest.learn(block)

    def work():
        idle.learn(block[:10])
        try:
            forest.score_one([0] * 9)
        except RuntimeError as error:
            assert "forked" in str(error)
        else:
            sys.exit(NOT_YET)  # the thread was just between two blocks

    learning = threading.Thread(target=learn_on)
    learning.start()
    try:
        codes = []
        while not codes or (codes[-1] == NOT_YET and len(codes) < 20):
            time.sleep(0.05)
            codes.append(exit_code_of_child(work))
    finally:
        stop.set()
        learning.join()
    assert codes[-1] == 0, codes
    forest.check()


SUBINTERPRETER = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import sys
import oif
code = f"import sys; sys.path[:] = {sys.path}\\ntry: import oif\\nexcept ImportError: pass\\nelse: raise SystemError('imported')"
failed = interpreters.run_string(interpreters.create(), code)
assert failed is None, failed
oif.Loda().learn([1.0, 2.0])
"""


def test_a_subinterpreter_is_refused_with_an_import_error():
    subprocess.run([sys.executable, "-c", SUBINTERPRETER], check=True)


# No room for a thread's stack, but enough for a detector.
NO_THREADS = """
import resource
import oif

detector = oif.OnlineIsolationForest(num_trees=4, window_size=16)
detector.threads = 4
with open("/proc/self/statm") as statm:
    in_use = int(statm.read().split()[0]) * resource.getpagesize()
whole = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (in_use + (64 << 20), whole[1]))
try:
    detector.learn([[1.0, 2.0]] * 9)
except MemoryError as error:
    assert "thread" in str(error), error
else:
    raise AssertionError("the threads were there")
resource.setrlimit(resource.RLIMIT_AS, whole)
assert detector.columns is None
detector.learn([[1.0, 2.0, 3.0]] * 9)
assert (detector.columns, detector.threads, detector.rows_learned) == (3, 4, 9)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc for the memory in use")
def test_without_its_threads_no_detector_is_made():
    import resource

    def large_stacks():
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 30, resource.getrlimit(resource.RLIMIT_STACK)[1]))

    subprocess.run([sys.executable, "-c", NO_THREADS], check=True, preexec_fn=large_stacks)
