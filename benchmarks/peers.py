#!/usr/bin/env python3
"""Runs ours and the peers on the same rows in the same run: make bench.

It has three parts:

  ours     our detectors on six sets: nanoseconds per row of each way to pass rows, bytes, AUC; first of all one small
           table, detectors by sets, to be kept: --before FILE.json prints what became of an earlier run's
  peers    each peer beside the one of ours that does the same, with the same parameters and rows. Slow peers get fewer
           rows: what is compared is their time, and their AUC, with ours on just those
  growth   online-iforest and the plain translation of its paper for growing n, window_size, num_trees and d

Everyone gets the first rows of one random order, learns and scores each, and is timed by the processor's clock (several
threads: by the wall's); a run of under 2 seconds is done three times and the best counts.

    benchmarks/peers.py                      everything
    benchmarks/peers.py --quick              a tenth of the rows: to see that it works
    benchmarks/peers.py --parts peers --sets Donors --only rcf3,river
    benchmarks/peers.py --parts ours --before benchmarks/results/EARLIER.json
    benchmarks/peers.py --plots FILE.json    draw the plots of an earlier run again

Writes benchmarks/results/DATE-PROCESSOR.json, .md with the tables, and the plots as .svg and .png.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import NamedTuple

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # before numpy is loaded

import numpy as np  # noqa: E402

import detectors  # noqa: E402
from detectors import ALL_OURS, CHECKOUT, OURS_FROM_C, OURS_FROM_PYTHON, PEERS  # noqa: E402  (puts tools/measure on the path)

import accuracy  # noqa: E402
import aws_forest  # noqa: E402
import datasets  # noqa: E402

RESULTS = CHECKOUT / "benchmarks" / "results"
SPEED_PROGRAM = CHECKOUT / "build" / "benchmarks" / "benchmarks" / "bench_speed"
FAILED_INSTALLS = CHECKOUT / "build" / "bench-venv" / "failed"
PARTS = ("ours", "peers", "growth")
OURS_SETS = ("Smtp", "Http", "Shuttle", "Donors", "ForestCover", "Satellite")
OURS_ROWS = 40_000  # at most, of each set
PEER_SETS = ("Http", "Shuttle", "Satellite")  # d = 3, 9, 36
SEED = 1
SHORT_RUN_SECONDS, SHORT_RUNS = 2, 3
LEAST_ANOMALIES = 5  # an AUC of fewer says nothing



class Bar(NamedTuple):
    """How many times the peer's rows a second ours must be, one by one, ours through C."""

    peer: str
    at_least: float
    sets: tuple = PEER_SETS


BARS = (
    Bar("CapyMOA OnlineIsolationForest", 1000, ("Shuttle",)),
    Bar("rcf3 OnlineIForest", 5, ("Shuttle",)),
    Bar("PySAD IForestASD", 20),
    Bar("PySAD HalfSpaceTrees", 20),
    Bar("River HalfSpaceTrees", 20),
    Bar("rrcf RCTree", 20),
    Bar("PySAD RobustRandomCutForest", 20),
    Bar("PySAD LODA", 20),
)


# ---- Progress ----


def show(text):
    """A line on the terminal that the next one overwrites; nothing when stderr is a file."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def show_bar(label, done, total, started):
    filled = 30 * done // total
    seconds = time.monotonic() - started
    show(f"{label:<50} [{'#' * filled}{'.' * (30 - filled)}] {done:>7,} of {total:,} rows, {seconds:.0f} s")


# ---- One detector on one set ----


def auc(scores, anomalous):
    few = min(anomalous.sum(), len(anomalous) - anomalous.sum()) < LEAST_ANOMALIES
    return None if few else float(accuracy.roc_auc(np.asarray(scores, dtype=np.float64), anomalous))


def run_bench_speed(rows, ways, ours=ALL_OURS[0], params=(), repeats=SHORT_RUNS, scores_path=None):
    """What bench_speed (speed.c) finds: seconds for each way of passing the rows through C, and bytes."""
    with tempfile.NamedTemporaryFile(suffix=".f64") as file:
        np.ascontiguousarray(rows).tofile(file)
        file.flush()
        command = [SPEED_PROGRAM, "--json", "--detector", ours.kind]
        command += ["--only", ",".join(ways), "--repeats", str(repeats)]
        for name, value in (*ours.params, *params):
            command += ["--set", f"{name}={value}"]
        if scores_path:
            command += ["--scores", scores_path]
        command += ["rows", str(rows.shape[1]), file.name]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found["sets"][0]


def learn_and_score(ours, rows, ways=("one-by-one",)):
    """What bench_speed finds, and the scores, which are the same for all ways that learn."""
    with tempfile.NamedTemporaryFile(suffix=".scores") as file:
        found = run_bench_speed(rows, ways, ours, params=(("seed", SEED),), scores_path=file.name)
        return found, np.fromfile(file.name)


def run_ours(ours, rows):
    """Processor seconds and scores of ours through C, one by one."""
    found, scores = learn_and_score(ours, rows)
    return found["ways"]["one-by-one"]["cpu_seconds"], scores


def run_once(detector, stream, rows, label):
    """Seconds and scores of one run. The clock stands still while rows are prepared and the bar is drawn."""
    clock = time.process_time if detector.threads == 1 else time.perf_counter
    started = time.monotonic()
    pass_rows = detector.make(stream)
    seconds, scores = 0.0, []
    for first in range(0, len(rows), detector.chunk):
        chunk = detector.prepare(stream, rows[first : first + detector.chunk])
        before = clock()
        scores.append(pass_rows(chunk))
        seconds += clock() - before
        show_bar(label, min(first + detector.chunk, len(rows)), len(rows), started)
    return seconds, np.concatenate([np.asarray(s, dtype=np.float64) for s in scores])


def run_detector(detector, stream, rows, label, share):
    """The best of several runs, if they are short."""
    seconds, scores = run_once(detector, stream, rows, label)
    if seconds < share * SHORT_RUN_SECONDS:
        seconds = min([seconds] + [run_once(detector, stream, rows, label)[0] for _ in range(SHORT_RUNS - 1)])
    return seconds, scores


def why_missing(detector, failure):
    """Why a peer did not run: what pip said, if it did not install, else what Python said."""
    log = FAILED_INSTALLS / detector.package
    if not log.is_file():
        return re.sub(r"[\s|]+", " ", f"{type(failure).__name__}: {failure}")  # one cell of a table
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    telling = [line.strip() for line in lines if re.search(r"\b(fatal )?error: (?!subprocess|failed-wheel)", line)]
    return f"does not install: {(telling or lines or ['pip failed'])[-1]}"


def version(package):
    if package == aws_forest.NAME:
        return aws_forest.version()
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def load_rows(name, most):
    """The first rows of the set in a random order that is always the same, and which of them are anomalous."""
    rows, anomalous = datasets.shuffle(*datasets.load(name), SEED)
    return rows[:most], anomalous[:most]


def measure_detector(detector, stream, rows, anomalous, ours_on, label, share):
    """One detector beside ours on the same rows; what ours took is kept in `ours_on`."""
    key = (detector.beside, len(rows))
    if key not in ours_on:
        ours_on[key] = run_ours(detector.beside, rows)
    ours_seconds, ours_scores = ours_on[key]
    if detector.run:
        seconds, scores = detector.run(stream, rows)
    elif detector.make:
        seconds, scores = run_detector(detector, stream, rows, label, share)
    else:
        seconds, scores = ours_on[key]
    scored = ~np.isnan(scores)  # dSalmon's HSTrees have no score for the first window
    return {
        "clock": "processor" if detector.threads == 1 else "wall",
        "seconds": seconds,
        "rows_per_second": len(rows) / seconds,
        "ours_seconds": ours_seconds,
        "ours_times": seconds / ours_seconds,
        "unscored": len(rows) - int(scored.sum()),
        "auc": auc(scores[scored], anomalous[scored]),
        "ours_auc": auc(ours_scores[scored], anomalous[scored]),
    }


def measure_set(name, chosen, share):
    """Every chosen detector on one set, ours first."""
    rows, anomalous = load_rows(name, int(share * detectors.MOST_ROWS))
    stream = detectors.Stream(rows.shape[1], rows.min(axis=0), rows.max(axis=0), SEED)
    ours_on = {}  # which of ours, rows -> seconds, scores
    results = []
    for i, detector in enumerate(chosen):
        n = min(len(rows), max(int(share * detector.rows), detector.least))
        label = f"{name}, {i + 1} of {len(chosen)}: {detector.name}, {detector.how}"
        show(label)
        result = {
            "name": detector.name,
            "package": detector.package,
            "how": detector.how,
            "version": version(detector.package),
            "beside": str(detector.beside),
            "rows": n,
        }
        results.append(result)
        try:
            result.update(measure_detector(detector, stream, rows[:n], anomalous[:n], ours_on, label, share))
        except Exception as failure:  # whatever a peer does, the others still run
            result["missing"] = why_missing(detector, failure)
    show("")
    return {
        "name": name,
        "n": len(rows),
        "d": rows.shape[1],
        "anomalies": int(anomalous.sum()),
        "detectors": results,
    }


# ---- Ours on all sets ----

LEARNING_WAYS = ("one-by-one", "blocks", "blocks-2-threads")


def nanoseconds(found, way):
    clock = "wall_seconds" if way.endswith("-threads") else "cpu_seconds"
    return 1e9 * found["ways"][way][clock] / found["rows"]


def measure_ours_on(name, share):
    """All of ours on one set."""
    rows, anomalous = load_rows(name, int(share * OURS_ROWS))
    results = []
    for i, ours in enumerate(ALL_OURS):
        show(f"ours on {name}, {i + 1} of {len(ALL_OURS)}: {ours}")
        found, scores = learn_and_score(ours, rows, LEARNING_WAYS)
        found["ways"].update(run_bench_speed(rows, ["score-one-by-one"], ours)["ways"])
        results.append(
            {
                "detector": str(ours),
                "bytes": found["memory_bytes"],
                "nanoseconds": {way: nanoseconds(found, way) for way in found["ways"]},
                "auc": auc(scores, anomalous),
            }
        )
    show("")
    return {"name": name, "n": len(rows), "d": rows.shape[1], "detectors": results}


# ---- How the cost grows ----


def made_up_rows(count, dimension):
    """Three clouds and one row in a hundred anywhere."""
    random = np.random.RandomState(SEED)
    centres = random.uniform(0, 10, (3, dimension))
    rows = centres[random.randint(3, size=count)] + random.normal(size=(count, dimension))
    far = random.uniform(size=count) < 0.01
    rows[far] = random.uniform(-10, 20, (int(far.sum()), dimension))
    return rows


def measure_growth(share):
    """Seconds of ours and of the plain translation over growing n, window_size, num_trees and d, on made-up rows."""
    count = max(5000, int(60_000 * share))
    growth = {"rows": count, "sweeps": []}
    sweeps = {
        "n": [int(n * share) for n in (30_000, 100_000, 200_000, 400_000, 600_000)],
        "window_size": [256, 512, 1024, 2048, 4096, 8192, 16384],
        "num_trees": [8, 16, 32, 64, 128, 256],
        "d": [1, 2, 4, 8, 16, 32, 64, 128],
    }
    for name, values in sweeps.items():
        points = []
        for value in values:
            show(f"growth: {name} = {value:,}")
            n = value if name == "n" else count
            rows = made_up_rows(n, value if name == "d" else 10)
            params = ((name, value),) if name in ("window_size", "num_trees") else ()
            ways = run_bench_speed(rows, ["plain", "one-by-one", "blocks"], params=params, repeats=2)["ways"]
            seconds = {way: found["cpu_seconds"] for way, found in ways.items()}
            points.append({"value": value, "rows": n, "seconds": seconds})
        growth["sweeps"].append({"parameter": name, "points": points})
    show("")
    return growth


# ---- Bars and tables ----


def judge_bars(sets):
    """How ours stand against the bars, on the set where they stand worst; None where a peer did not run."""
    judged = []
    for bar in BARS:
        found = [
            (result["ours_times"], measured["name"])
            for measured in sets
            for result in measured["detectors"]
            if result["name"] == bar.peer and result["how"] == detectors.ONE and "missing" not in result
            if measured["name"] in bar.sets
        ]
        times, name = min(found, default=(None, None))
        met = None if times is None else times >= bar.at_least
        judged.append({"peer": bar.peer, "at_least": bar.at_least, "set": name, "times": times, "met": met})
    return judged


def round_figures(number, figures=3):
    """1234567 -> 1,230,000; a number this far from exact should not look exact."""
    rounded = float(f"{number:.{figures}g}")
    return f"{rounded:,.0f}" if rounded >= 10 ** (figures - 1) else f"{rounded:.{figures}g}"


def auc_text(value):
    return "-" if value is None else f"{value:.3f}"


def one_by_one(measured_sets):
    """{detector: {set: nanoseconds}}: the small table that is kept from run to run."""
    table = {}
    for measured in measured_sets:
        for r in measured["detectors"]:
            table.setdefault(r["detector"], {})[measured["name"]] = r["nanoseconds"]["one-by-one"]
    return table


def small_table(table, before):
    """Nanoseconds per row; of an earlier run too, if there is one."""
    sets = list(next(iter(table.values())))
    yield "## Ours, learned and scored one by one: nanoseconds per row" + (", before and now" if before else "")
    yield ""
    yield f"| detector | {' | '.join(sets)} |"
    yield "| --- |" + " ---: |" * len(sets)
    for detector, times in table.items():
        cells = []
        for name in sets:
            earlier = before.get(detector, {}).get(name)
            now = round_figures(times[name])
            cells.append(f"{round_figures(earlier)}, {now} ({times[name] / earlier:.2f})" if earlier else now)
        yield f"| {detector} | {' | '.join(cells)} |"
    yield ""


def ours_table(measured_sets):
    yield "## Ours: nanoseconds per row of each way"
    yield ""
    yield "| set | d | rows | detector | learn and score | blocks of 1000 | on 2 threads (wall) | score | bytes | AUC |"
    yield "| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for measured in measured_sets:
        for r in measured["detectors"]:
            times = [round_figures(r["nanoseconds"][way]) for way in (*LEARNING_WAYS, "score-one-by-one")]
            cells = [measured["name"], str(measured["d"]), f"{measured['n']:,}", r["detector"], *times]
            cells += [f"{r['bytes']:,}", auc_text(r["auc"])]
            yield f"| {' | '.join(cells)} |"
    yield ""


def short_table(sets):
    """A line per peer: how many times as fast ours is, and in brackets the AUCs, ours first."""
    lines = {}
    for measured in sets:
        for r in (r for r in measured["detectors"] if r["package"] != OURS_FROM_C[0].package):
            ours, *params = r["beside"].split(" ")
            beside = ", ".join([f"`{ours}`", *(f"`{param.replace('=', '` ')}" for param in params)])
            way = "" if r["how"] == detectors.ONE else f", {r['how']}"
            key = (beside, f"{r['name']} {r['version'] or ''}".strip() + way)
            line = lines.setdefault(key, {"rows": 0})
            line["rows"] = max(line["rows"], r["rows"])
            if "missing" not in r:
                aucs = ", ".join(auc_text(r[name]).removeprefix("0") for name in ("ours_auc", "auc"))
                line[measured["name"]] = f"{round_figures(r['ours_times'])} ({aucs})"
    yield "### In short: how many times as fast ours is (AUC of ours, of the peer)"
    yield ""
    yield "| ours | peer | rows at most | " + " | ".join(f"{m['name']} ({m['d']})" for m in sets) + " |"
    yield "| --- | --- | --- |" + " --- |" * len(sets)
    for (beside, peer), line in lines.items():
        cells = [line.get(measured["name"], "did not run") for measured in sets]
        yield f"| {beside} | {peer} | {line['rows']:,} | {' | '.join(cells)} |"


def set_table(measured):
    share = 100 * measured["anomalies"] / measured["n"]
    yield f"### {measured['name']}: {measured['n']:,} rows, d = {measured['d']}, {share:.1f} % anomalies"
    yield ""
    yield "| detector | rows passed | how | ns per row | beside oif's | ns per row | oif is faster | AUC | oif's AUC |"
    yield "| --- | ---: | --- | ---: | --- | ---: | ---: | ---: | ---: |"
    for r in measured["detectors"]:
        label = f"{r['name']} {r['version'] or ''}".strip()
        if "missing" in r:
            yield f"| {label} | 0 | {r['how']} | did not run: {r['missing']} | {r['beside']} | | | | |"
            continue
        wall = " (wall)" if r["clock"] == "wall" else ""
        cells = [label, f"{r['rows']:,}", r["how"], round_figures(1e9 * r["seconds"] / r["rows"]) + wall]
        remark = f" ({r['unscored']:,} rows without a score left out)" if r["unscored"] else ""
        if r["package"] == OURS_FROM_C[0].package:
            cells += ["", "", "", auc_text(r["auc"]), ""]
        else:
            ours_nanoseconds = round_figures(1e9 * r["ours_seconds"] / r["rows"])
            cells += [r["beside"], ours_nanoseconds, f"{round_figures(r['ours_times'])} times"]
            cells += [auc_text(r["auc"]) + remark, auc_text(r["ours_auc"])]
        yield f"| {' | '.join(cells)} |"
    yield ""


def bar_lines(bars):
    for b in bars:
        what = f"oif one by one at least {b['at_least']:,} times {b['peer']}"
        if b["times"] is None:
            yield f"- {what}: **not measured**"
        else:
            yield f"- {what}: {round_figures(b['times'])} times ({b['set']}): **{'pass' if b['met'] else 'FAIL'}**"


def growth_table(growth):
    yield f"### Nanoseconds per row as the problem grows ({growth['rows']:,} made-up rows, d = 10, unless said)"
    yield ""
    yield "| | | plain translation | one by one | blocks |"
    yield "| --- | ---: | ---: | ---: | ---: |"
    for sweep in growth["sweeps"]:
        for p in sweep["points"]:
            cells = [f"{1e9 * p['seconds'][way] / p['rows']:,.0f}" for way in ("plain", "one-by-one", "blocks")]
            yield f"| {sweep['parameter']} | {p['value']:,} | {' | '.join(cells)} |"
    yield ""


def markdown(results, before):
    yield f"# oif beside its peers, {results['date']}"
    yield ""
    yield f"{results['processor']}, {results['system']}, Python {results['python']}. Made by `{results['command']}`."
    yield "Everyone learns and scores the same rows in the same order and run; one thread, processor time, unless said."
    yield ""
    if results["ours"]:
        yield from small_table(results["one_by_one"], before)
        yield from ours_table(results["ours"])
    if results["sets"]:
        yield "## Beside the peers"
        yield ""
        yield "Each peer beside the one of ours that does the same, through C and one by one, on the rows the peer got."
        yield ""
        yield from short_table(results["sets"])
        yield ""
        for measured in results["sets"]:
            yield from set_table(measured)
        yield from bar_lines(results["bars"])
        yield ""
    if results["growth"]:
        yield from growth_table(results["growth"])
    took = ", ".join(f"{part} {seconds:.0f} s" for part, seconds in results.get("took", {}).items())
    yield f"Processor time of this run: {took}."


# ---- The run ----


def processor():
    text = subprocess.run(["lscpu"], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout
    found = re.search(r"^Model name:\s*(.+)$", text, re.MULTILINE)
    return re.sub(r"\((R|TM)\)", "", found.group(1)).strip() if found else platform.machine()


def choose(only):
    everyone = (*OURS_FROM_C, *OURS_FROM_PYTHON, *PEERS)
    if not only:
        return everyone
    words = [word.lower() for word in only.split(",")]
    return [d for d in everyone if d.package == "oif" or any(w in f"{d.package} {d.name}".lower() for w in words)]


def processor_seconds():
    """Of this process and the programs that it ran."""
    return sum(os.times()[:4])


def measure(arguments):
    share = 0.1 if arguments.quick else 1
    chosen = choose(arguments.only)
    measures = {
        "ours": lambda: [measure_ours_on(name, share) for name in OURS_SETS],
        "peers": lambda: [measure_set(name, chosen, share) for name in arguments.sets],
        "growth": lambda: measure_growth(share),
    }
    found, took = {}, {}
    for part in (part for part in PARTS if part in arguments.parts):
        before = processor_seconds()
        found[part] = measures[part]()
        took[part] = processor_seconds() - before
    sets = found.get("peers", [])
    return {
        "date": datetime.date.today().isoformat(),
        "processor": processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "command": " ".join(["make bench", *([f'ARGS="{" ".join(sys.argv[1:])}"'] if sys.argv[1:] else [])]),
        "seed": SEED,
        "ours": found.get("ours", []),
        "one_by_one": one_by_one(found.get("ours", [])),
        "sets": sets,
        "bars": judge_bars(sets) if sets else [],
        "growth": found.get("growth"),
        "took": took,
    }


def write(results, base, before):
    import plots

    base.parent.mkdir(parents=True, exist_ok=True)
    base.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    text = "\n".join(markdown(results, before)) + "\n"
    base.with_suffix(".md").write_text(text, encoding="utf-8")
    drawn = plots.draw_all(results, base)
    print(text)
    for path in (base.with_suffix(".json"), base.with_suffix(".md"), *drawn):
        print(os.path.relpath(path))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("--parts", type=words, default=PARTS, metavar="PART,...", help=f"default: {','.join(PARTS)}")
    parser.add_argument(
        "--sets", type=words, default=PEER_SETS, metavar="SET,...", help=f"of the peers; default: {','.join(PEER_SETS)}"
    )
    parser.add_argument("--only", metavar="WORD,...", help="only peers with such a word in their name (and ours)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--before", type=Path, metavar="FILE.json", help="print its small table beside this run's")
    parser.add_argument("--plots", type=Path, metavar="FILE.json", help="measure nothing, draw an earlier run again")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"no part is called {', '.join(sorted(unknown))}")
    warnings.simplefilter("ignore")  # what peers warn of is not ours to print

    read = lambda path: json.loads(path.read_text(encoding="utf-8"))  # noqa: E731
    before = one_by_one(read(arguments.before)["ours"]) if arguments.before else {}
    if arguments.plots:
        results = read(arguments.plots)
        write({**results, "one_by_one": one_by_one(results["ours"])}, arguments.plots.with_suffix(""), before)
        return
    results = measure(arguments)
    slug = re.sub(r"[^a-z0-9]+", "-", results["processor"].lower()).strip("-")
    write(results, RESULTS / (f"{results['date']}-{slug}" + ("-quick" if arguments.quick else "")), before)


if __name__ == "__main__":
    try:
        main()
    except datasets.DataMissing as missing:
        sys.exit(f"nothing measured: {missing}")
