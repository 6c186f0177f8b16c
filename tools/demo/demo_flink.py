#!/usr/bin/env python3
"""Runs a job on a Flink cluster on this machine, kills a task manager, and compares every bit with one process: `tools/demo/run.sh flink`.

    tools/demo/demo_flink.py OIF [--rows N] [--rate N] [--stay]

OIF is the program. --stay keeps the cluster and Flink's page running until Ctrl-C. All files are removed at the end.
"""

import argparse
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/flink"))
from cluster import Cluster  # noqa: E402
from one_process import expected_results, results_of, score_command, write_readings  # noqa: E402

FLINK = ROOT / "build/flink/packages/pyflink"
JOB = ROOT / "java/oif-flink-demo/target/oif-flink-demo-0.1.0-job.jar"
PUMPS = 60


def say(text):
    print(f"\n{text}" if text[1:3] == ". " else f"   {text}", flush=True)


def progress(text):
    """Prints a line that the next one replaces. Prints nothing if the output is not a terminal."""
    if sys.stdout.isatty():
        print(f"\r   {text}\033[K", end="" if text else "\r", flush=True)


class Output:
    """The results that Flink has committed. The names of files in progress begin with a dot."""

    def __init__(self, folder):
        self.folder, self.rows, self.files = folder, [], set()

    def read(self):
        for file in sorted(self.folder.glob("*/part-*")):
            if not file.name.startswith(".") and file not in self.files:
                self.files.add(file)
                self.rows += [line.split(",") for line in file.read_text().splitlines()]
        return len(self.rows)

    def anomalies(self):
        return [row for row in self.rows if row[3] == "1"]


class Demo:
    def __init__(self, oif, rows, rate, folder):
        self.oif, self.rows, self.rate, self.folder = oif, rows, rate, folder
        self.cluster = Cluster(FLINK, folder / "flink", {"metrics.fetcher.update-interval": 500})
        self.output = Output(folder / "output")

    def start(self):
        say("1. A Flink cluster on this machine: a job manager and two task managers, each in its own process.")
        self.cluster.start()
        pids = ", ".join(f"{name} is process {process.pid}" for name, process in self.cluster.managers.items())
        say(f"{pids}. Flink's page:")
        print(f"\n       http://127.0.0.1:{self.cluster.port}/\n", flush=True)

    def run(self):
        say(f"2. The job: {self.rows:,} readings of {PUMPS} pumps, {self.rate:,} per second, one model per pump, a checkpoint per second.")
        jar = self.cluster.upload(JOB)
        arguments = ["--rows", self.rows, "--pumps", PUMPS, "--rate", self.rate, "--output", f"file://{self.folder}/output"]
        self.job = self.cluster.run(jar, "oif.flink.demo.PumpsJob", arguments)
        self.watch(lambda: self.output.read() > self.rows * 0.4)
        say(f"{self.output.read():,} results are committed, {len(self.output.anomalies()):,} of them anomalies.")

    def kill(self):
        process = self.cluster.managers["tm-0"]
        say(f"3. kill -9 {process.pid}: task manager tm-0 is lost, with the models of about half the pumps and all rows in flight.")
        began = time.monotonic()
        self.cluster.kill("tm-0")
        self.cluster.start_task_manager("tm-0")
        say(f"A new one takes its place, process {self.cluster.managers['tm-0'].pid}.")
        self.watch(lambda: self.cluster.restored(self.job) > 0)
        latest = ((self.cluster.ask(f"/jobs/{self.job}/checkpoints") or {}).get("latest") or {}).get("restored") or {}
        say(f"{time.monotonic() - began:.0f} s later the job continues from checkpoint {latest.get('id', '?')}: a snapshot of each model and "
            "the rows since. The source repeats the rows after the checkpoint.")

    def finish(self):
        self.watch(lambda: self.cluster.state(self.job) == "FINISHED")
        say(f"All {self.output.read():,} results are committed, {len(self.output.anomalies()):,} of them anomalies.")

    def watch(self, is_done):
        def step():
            state = self.cluster.state(self.job) or "no answer"
            if state in ("FAILED", "CANCELED"):
                raise SystemExit(f"the job failed:\n{self.cluster.why(self.job)}")
            progress(f"{self.output.read():,} of {self.rows:,} results committed, {self.cluster.checkpoints(self.job)} checkpoints, "
                     f"{state.lower()}")
            if is_done():
                return True
            if state == "FINISHED":
                raise SystemExit("the job ended too early; give it more --rows")
            return False

        self.cluster.wait_for(step, "the job", 600)
        progress("")

    def compare(self):
        say("4. The same readings in one process:")
        readings = self.folder / "readings.csv"
        write_readings(JOB, self.rows, PUMPS, readings)
        say(f"oif {' '.join(score_command())} readings.csv")
        expected, found = expected_results(self.oif, readings), results_of(self.output.rows)
        different = sum(found.get(row) != result for row, result in expected.items())
        twice = len(self.output.rows) - len(found)
        say(f"{len(expected):,} rows: {different} differ in a bit of score, threshold or anomaly; {twice} twice; "
            f"{len(expected.keys() - found.keys())} missing.")
        return different == 0 and twice == 0

    def stay(self):
        say(f"Flink's page is at http://127.0.0.1:{self.cluster.port}/ until Ctrl-C.")
        while True:
            time.sleep(1)


def interrupt(*_):
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("oif")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rate", type=int, default=5000, metavar="ROWS_PER_SECOND")
    parser.add_argument("--stay", action="store_true")
    options = parser.parse_args()

    signal.signal(signal.SIGTERM, interrupt)
    folder = Path(tempfile.mkdtemp(prefix="oif-demo-flink-"))
    demo = Demo(options.oif, options.rows, options.rate, folder)
    is_same = False
    try:
        demo.start()
        demo.run()
        demo.kill()
        demo.finish()
        is_same = demo.compare()
        say("The kill changed nothing." if is_same else "The results differ: please report this as a defect.")
        if options.stay:
            demo.stay()
    except KeyboardInterrupt:
        print("\nending")
        return 0 if is_same else 130
    finally:
        demo.cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
