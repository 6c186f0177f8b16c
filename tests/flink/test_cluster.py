"""oif on a real Flink cluster. After kill -9, savepoints and rescaling, the results must equal those of one process, bit for bit.

    tools/test/test_flink.sh           what CI runs: a few kills, and the negative control
    tools/test/test_flink.sh --long    50 kills in five kinds of jobs, a standby job manager, 24 jobs in one cluster, write-through: about half an hour

Environment: OIF_PROGRAM is the oif program, OIF_FLINK the folder with Flink's lib, OIF_FLINK_JOB the jar of the job.
"""

import os
import random
import shutil
import subprocess
import time
import zipfile
from pathlib import Path

import pytest
from cluster import Cluster
from one_process import complete_results, count_anomalies, expected_results, write_readings

CHECKOUT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("OIF_PROGRAM", "build/release-gcc/oif")
FLINK = os.environ.get("OIF_FLINK", "build/flink/packages/pyflink")
JOB = os.environ.get("OIF_FLINK_JOB", "java/oif-flink-demo/target/oif-flink-demo-0.1.0-job.jar")
IS_LONG = "OIF_FLINK_LONG" in os.environ
ENTRY = "oif.flink.demo.PumpsJob"
PUMPS = 60
ROCKSDB = {"state.backend.type": "rocksdb", "execution.checkpointing.incremental": "true"}
# Few rows are in flight between source and operator, so checkpoints are quick even if the operator is slow.
SMALL_BUFFERS = {"taskmanager.memory.segment-size": "4kb"}
METRICS_EVERY = {"metrics.fetcher.update-interval": "500 ms"}
# Most of the processor time goes into starting Java.
QUICK_TO_START = ["-XX:TieredStopAtLevel=1", "-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"]
UNALIGNED = {"execution.checkpointing.unaligned.enabled": "true"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flink")
    with Cluster(Path(FLINK).absolute(), folder, {**SMALL_BUFFERS, **METRICS_EVERY}, survives=True) as running:
        running.java_options = QUICK_TO_START
        running.start()
        running.jar = running.upload(JOB)
        yield running


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """A function that returns the results of one process for a number of rows. It caches them."""
    folder = tmp_path_factory.mktemp("reference")
    known = {}

    def of(rows, detector="online-iforest"):
        if (rows, detector) not in known:
            readings = folder / f"{rows}.csv"
            write_readings(JOB, rows, PUMPS, readings)
            known[rows, detector] = expected_results(PROGRAM, readings, detector)
            readings.unlink()
            assert count_anomalies(known[rows, detector]) > 0 or rows < 80_000, "there are anomalies to find"
        return known[rows, detector]

    return of


class Run:
    """A job and its output folder."""

    def __init__(self, cluster, folder, rows, rate=8000, **options):
        self.cluster, self.folder, self.rows = cluster, folder, rows
        self.options = {"rows": rows, "pumps": PUMPS, "rate": rate, "output": f"file://{folder}/output", **options}

    def start(self, parallelism=3, savepoint=None, settings=None, jar=None, **options):
        """Starts the job. `options` are options of the job for this start only."""
        arguments = [part for name, value in {**self.options, **options}.items() for part in (f"--{name.replace('_', '-')}", value)]
        self.job = self.cluster.run(jar or self.cluster.jar, ENTRY, arguments, parallelism, savepoint, settings)
        return self

    def wait_for_checkpoints(self, count):
        """Waits for `count` more checkpoints."""
        before = self.cluster.checkpoints(self.job)

        def are_done():
            if self.cluster.state(self.job) in ("FAILED", "FINISHED"):
                raise RuntimeError(f"the job is over: {self.cluster.why(self.job)}")
            return self.cluster.checkpoints(self.job) >= before + count

        self.cluster.wait_for(are_done, f"{count} checkpoints")

    def stop_with_savepoint(self):
        return self.cluster.stop_with_savepoint(self.job)

    def lines(self):
        """Returns the committed lines. The names of files in progress begin with a dot."""
        found = [file for file in (self.folder / "output").glob("*/part-*") if not file.name.startswith(".")]
        return [line.split(",") for file in found for line in file.read_text().splitlines()]

    def count_differing(self, right):
        """Waits for the end of the job. Returns the number of rows that differ in any bit from those of one process."""
        self.cluster.finish(self.job, 1800)
        results = complete_results(self.lines(), self.rows)
        return sum(results[row] != right[row] for row in right)


def replace_killed(cluster, name):
    cluster.kill(name)
    if name == "jm":
        cluster.start_job_manager()
    else:
        cluster.start_task_manager(name)


# ---- kill -9 ----

# name: options of the job, settings of Flink, detector, what is killed
KINDS = {
    "heap": ({}, None, "online-iforest", ["tm-0", "tm-1"]),
    "rocksdb-unaligned": ({}, {**ROCKSDB, **UNALIGNED}, "rolling-iforest", ["tm-0", "tm-1"]),
    "write-through": ({"write_through": "yes"}, ROCKSDB, "online-iforest", ["tm-0", "tm-1"]),
    "evicting": ({"cache": "1500k"}, ROCKSDB, "rolling-iforest", ["tm-0", "tm-1"]),
    "all-managers": ({}, None, "online-iforest", ["tm-0", "tm-1", "jm"]),
}


@pytest.mark.parametrize("kind", KINDS if IS_LONG else ["heap"])
def test_killed_task_managers(cluster, expected, tmp_path, kind):
    options, settings, detector, victims = KINDS[kind]
    kills = int(os.environ.get("OIF_FLINK_KILLS", "10" if IS_LONG else "2"))
    rows, rate = (40_000 + 40_000 * kills, 6000) if IS_LONG else (30_000 + 35_000 * kills, 6000)
    if kind == "evicting":  # each row takes milliseconds
        rows, rate = rows // 8, rate // 4
    run = Run(cluster, tmp_path, rows, rate, detector=detector, **options).start(settings=settings)
    seed = int(os.environ.get("OIF_FLINK_SEED", random.SystemRandom().randrange(10**6)))
    chance = random.Random(seed)
    print(f"OIF_FLINK_SEED={seed}")
    run.wait_for_checkpoints(1)
    for _ in range(kills):
        run.wait_for_checkpoints(chance.choice([0, 1, 1, 2]) if IS_LONG else 1)
        time.sleep(chance.uniform(0, 1))  # at any moment, even during a checkpoint
        replace_killed(cluster, chance.choice(victims))
    differing = run.count_differing(expected(rows, detector))
    print(f"{kind}: {kills} kills, {rows} rows, {cluster.restored(run.job)} restores of the last job manager, {differing} rows differ")
    assert cluster.restored(run.job) >= 1
    assert differing == 0


def test_a_killed_job_manager(cluster, expected, tmp_path):
    """Its metadata is in ZooKeeper and a folder, so the next job manager continues."""
    rows = 90_000
    run = Run(cluster, tmp_path, rows).start()
    run.wait_for_checkpoints(2)
    replace_killed(cluster, "jm")
    assert run.count_differing(expected(rows)) == 0
    assert cluster.restored(run.job) >= 1


@pytest.mark.long
def test_a_standby_job_manager_takes_over(cluster, expected, tmp_path):
    """Two job managers at once. The killed one is not replaced: the other becomes the leader and continues the job."""
    rows = 90_000
    cluster.start_standby()
    run = Run(cluster, tmp_path, rows).start()
    run.wait_for_checkpoints(2)
    cluster.fail_over()
    assert run.count_differing(expected(rows)) == 0
    assert cluster.restored(run.job) >= 1


def test_the_control_differs(cluster, expected, tmp_path):
    """Negative control: models that are not part of checkpoints. If a kill changed nothing here, the other tests would prove nothing."""
    rows = 60_000
    run = Run(cluster, tmp_path, rows, rate=6000, forgetful="yes").start()
    run.wait_for_checkpoints(2)
    replace_killed(cluster, "tm-0")
    assert run.count_differing(expected(rows)) > 1000


def test_a_cache_far_too_small_on_rocksdb(cluster, expected, tmp_path):
    rows = 10_000
    run = Run(cluster, tmp_path, rows, rate=400, cache="400k", detector="rolling-iforest").start(settings=ROCKSDB)
    run.wait_for_checkpoints(2)
    for name in ("cacheMisses", "cacheEvictions", "replayedRows", "stateBytesWritten", "checkpointBytes"):
        cluster.wait_for(lambda: len(values := cluster.metrics(run.job, name)) == 3 and max(values) > 0, name, 60)
    live = []
    cluster.wait_for(lambda: live.append(cluster.metrics(run.job, "modelsLive")) or len(live[-1]) == 3, "modelsLive", 60)
    assert max(live[-1]) < PUMPS / 3, live[-1]
    replace_killed(cluster, "tm-1")
    assert run.count_differing(expected(rows, "rolling-iforest")) == 0


# ---- Savepoints ----


def test_rescaling_by_savepoints(cluster, expected, tmp_path):
    """From 2 to 3 to 1 subtasks, with unaligned checkpoints in the second job."""
    rows = 90_000
    run, savepoint = Run(cluster, tmp_path, rows), None
    for parallelism, settings in [(2, None), (3, UNALIGNED)]:
        run.start(parallelism, savepoint, settings)
        run.wait_for_checkpoints(2)
        savepoint = run.stop_with_savepoint()
    run.start(1, savepoint, rate=50000)
    assert run.count_differing(expected(rows)) == 0


@pytest.fixture(scope="module")
def later_jar(cluster, tmp_path_factory):
    """The job with a simulated later version of oif, which has another behavior number."""
    folder = tmp_path_factory.mktemp("later")
    home = Path(shutil.which("javac")).resolve().parents[1]
    machine = os.uname().machine
    binding = CHECKOUT / "java/oif-java/src/main/c"
    others = [source for source in sorted(binding.glob("*.c")) if source.name != "oif_jni.c"]
    compiler = ["gcc", "-std=c11", "-O2", "-fPIC", f"-I{CHECKOUT}/include", f"-I{home}/include", f"-I{home}/include/linux"]
    subprocess.run(
        [*compiler, "-Doif_behavior_number=oif_later_behavior", "-c", binding / "oif_jni.c", "-o", folder / "jni.o"], check=True)
    subprocess.run(
        [*compiler, "-shared", CHECKOUT / "tests/flink/later_behavior.c", *others, folder / "jni.o",
         f"{CHECKOUT}/build/java/{machine}/liboif.a", "-lm", "-lpthread", "-o", folder / "liboifjni.so"],
        check=True,
    )
    jar = folder / "later-job.jar"
    with zipfile.ZipFile(JOB) as now, zipfile.ZipFile(jar, "w", zipfile.ZIP_DEFLATED) as later:
        for entry in now.infolist():
            is_library = entry.filename.endswith(f"linux-{machine}/liboifjni.so")
            later.writestr(entry, (folder / "liboifjni.so").read_bytes() if is_library else now.read(entry))
    return cluster.upload(jar)


def test_upgrade_to_another_behavior(cluster, expected, later_jar, tmp_path):
    """A later version refuses rows scored by this one, and continues from a savepoint with bases only."""
    rows = 60_000
    run = Run(cluster, tmp_path, rows).start(settings=ROCKSDB)
    run.wait_for_checkpoints(1)
    with_rows = run.stop_with_savepoint()

    refused = Run(cluster, tmp_path / "refused", rows).start(
        savepoint=with_rows, jar=later_jar, settings={"restart-strategy.type": "disable"})
    cluster.wait_for(lambda: cluster.state(refused.job) == "FAILED", "the refusal")
    assert "basesOnly(true)" in cluster.why(refused.job)

    run.start(savepoint=with_rows, settings=ROCKSDB, bases_only="yes", cache="300k", rate=300)
    run.wait_for_checkpoints(1)
    with_bases = run.stop_with_savepoint()
    run.start(savepoint=with_bases, jar=later_jar, rate=50000)
    assert run.count_differing(expected(rows)) == 0


@pytest.mark.long
def test_write_through_continues_as_operator(cluster, expected, tmp_path):
    """The function and the operator use the same state."""
    rows = 80_000
    run = Run(cluster, tmp_path, rows).start(rate=5000, write_through="yes")
    run.wait_for_checkpoints(2)
    run.start(savepoint=run.stop_with_savepoint())
    assert run.count_differing(expected(rows)) == 0


# ---- Many jobs on the same task managers ----


@pytest.mark.long
def test_memory_over_20_jobs(tmp_path):
    """Each job has its own class loader, loads the native library again and fills its cache. Nothing must leak."""
    with Cluster(Path(FLINK).absolute(), tmp_path) as cluster:
        cluster.java_options = ["-Xms256m", "-XX:+AlwaysPreTouch"]  # excludes the growth of the heap from the measurement
        cluster.start()
        cluster.jar = cluster.upload(JOB)
        resident = []
        for number in range(24):
            run = Run(cluster, tmp_path / str(number), 60_000, rate=100_000, pumps=1000).start(parallelism=4)
            cluster.finish(run.job)
            assert len(run.lines()) == 60_000
            shutil.rmtree(run.folder)
            resident.append(sum(cluster.resident_bytes(f"tm-{each}") for each in range(2)))
        print("resident MB after each job:", [round(each / 1e6) for each in resident])
        first, last = (sum(part) / len(part) for part in (resident[2:5], resident[-3:]))
        print(f"{first / 1e6:.0f} MB after 3 to 5 jobs, {last / 1e6:.0f} MB 20 jobs later: {100 * (last / first - 1):+.1f}%")
        assert last < 1.05 * first
