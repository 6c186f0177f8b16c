#!/usr/bin/env python3
"""Mutation testing: breaks the library in small ways and asks whether a test notices.

    tools/test/mutate.py                            200 mutants of src/detect, chosen at random: about an hour of one core
    tools/test/mutate.py --mutants 20 --seed 7      fewer, others
    tools/test/mutate.py src/detect/rrcf/*.c        some files
    tools/test/mutate.py --list src/detect/params.c what could be changed, without running anything

A mutant is one change of one place: an operator, a constant, a condition, a statement left out. Each is compiled with the
tests of its area, which run until the first one fails. The mutant is then

  killed      a test failed, crashed, or ran ten times as long as usual
  the same    the compiler made the same code of it: nothing to notice
  invalid     it does not compile
  survived    every test passed: a test is missing, or the change makes no difference that a test could see

The score is killed / (killed + survived). Works in a copy, build/mutation; survivors are printed and kept in
build/mutation/survivors.txt.
"""

import argparse
import collections
import random
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "build" / "mutation"
TREE = WORK / "tree"
BUILD = WORK / "build"
# Binary operators have a space on both sides, which clang-format sees to; a pointer's star has not.
SWAPS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > ", " == ": " != ", " != ": " == ", " && ": " || ",
         " || ": " && ", " + ": " - ", " - ": " + ", " * ": " / ", " / ": " * ", " += ": " -= ", " -= ": " += ",
         "++": "--", "true;": "false;", "false;": "true;", "if (!": "if (", " & ": " | ", " | ": " & ", " << ": " >> "}
OPERATOR = re.compile("|".join(re.escape(text) for text in sorted(SWAPS, key=len, reverse=True)))
CONSTANT = re.compile(r"(?<![\w.\"'])\d+(?![\w.\"'])")
STATEMENT = re.compile(r"^ +(?!return\b|break;|continue;|const |goto )[a-z_][\w.>\[\]* -]*( [-+*/|&]?= .*|\(.*\)|\+\+|--);$")
DECLARATION = re.compile(r"^ +(?:const |static |unsigned |struct |enum )*\w+ \*?\w+(\[.*\])? = ")
NOT_CODE = re.compile(r"//.*|/\*.*?\*/|\"(?:\\.|[^\"])*\"|'(?:\\.|[^'])*'")
# The quickest first. Not among them: those that take a minute and see nothing that the others do not.
TESTS_OF_ALL = ["detect.detector", "detect.score_learn", "detect.describe", "detect.own_memory", "detect.threads",
                "detect.complexity", "snapshot.detector_snapshot", "snapshot.names", "pipeline.pipeline", "detect.row_ranges",
                "snapshot.corrupt", "faults.allocation", "detect.against_plain"]


class Mutant(NamedTuple):
    path: str
    line: int  # counted from 1
    before: str
    after: str

    def __str__(self):
        return f"{self.path}:{self.line}\n  - {self.before.strip()}\n  + {self.after.strip()}"


def hide(line):
    """The line with comments, strings and characters blanked, so that places stay where they are."""
    return NOT_CODE.sub(lambda match: "~" * len(match[0]), line)


def changes_of(line):
    """All mutants of one line of code."""
    code = hide(line)
    if "assert(" in code or not code.startswith(" "):
        return
    for match in OPERATOR.finditer(code):
        yield line[: match.start()] + SWAPS[match[0]] + line[match.end() :]
    for match in CONSTANT.finditer(code):
        yield line[: match.start()] + str(int(match[0]) + 1) + line[match.end() :]
    if STATEMENT.match(code) and not DECLARATION.match(code):
        yield line[: len(line) - len(line.lstrip())] + ";"


def mutants_of(path):
    in_comment = False
    for number, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
        stripped = line.strip()
        in_comment = in_comment or stripped.startswith("/*")
        if not in_comment and not stripped.startswith("#"):
            for after in changes_of(line):
                yield Mutant(str(path), number, line, after)
        if in_comment and "*/" in stripped:
            in_comment = False


def run(command, cpu_seconds=None, **options):
    """Its output, or None when it failed or took too long: by the processor's clock, as the machine may be busy."""
    if cpu_seconds:
        limit = int(cpu_seconds) + 1
        options["preexec_fn"] = lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **options)
    return done.stdout if done.returncode == 0 else None


def used_seconds():
    """Processor time of all programs run so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def build(*targets):
    return run(["ninja", "-C", str(BUILD), "-j1", *targets]) is not None


def test_names(path):
    """The tests of the mutant's area first, then those of all detectors."""
    area = Path(path).parent.name if Path(path).parent.name != "detect" else Path(path).stem.split("_")[0]
    names = {"hst": ["hst_check", "hst"], "iforest_asd": ["iforest_asd", "iforest"], "loda": ["loda"],
             "online_iforest": ["online_iforest_check", "inner_box", "turnover", "online_iforest"],
             "rolling_iforest": ["rolling_iforest_check", "rolling_column", "rolling_iforest"],
             "rrcf": ["rrcf_check", "rrcf", "rrcf_law"], "sdo": ["sdo"], "together": ["together"], "params": ["params"]}
    return ["detect." + name for name in names.get(area, [])] + TESTS_OF_ALL


class Tests:
    """The tests of the copy, with the time that each takes when nothing is broken."""

    def __init__(self):
        self.seconds = {}
        self.golden = (TREE / "tests/golden/scores.txt").read_bytes()

    def passes(self, name):
        started = used_seconds()
        limit = 10 * self.seconds[name] + 10 if name in self.seconds else None
        if name == "same_bits":
            passed = self.same_bits(limit)
        else:
            if not build("test_" + name):
                return False
            passed = run([str(BUILD / "tests" / ("test_" + name))], limit, cwd=TREE / "tests") is not None
        self.seconds.setdefault(name, used_seconds() - started)
        return passed

    def same_bits(self, limit):
        program = str(WORK / "same_bits")
        sources = [str(path) for path in sorted((TREE / "tests/same_bits").glob("*.c"))]
        linked = run(["cc", "-O1", "-I" + str(TREE / "include"), "-I" + str(TREE / "src"), *sources,
                      str(BUILD / "liboif.a"), "-pthread", "-o", program])
        return linked is not None and run([program, "7", str(TREE / "tests/golden/snapshots")], limit) == self.golden


def verdict(mutant, tests):
    path = TREE / mutant.path
    original = path.read_text(encoding="utf-8")
    lines = original.splitlines(keepends=True)
    lines[mutant.line - 1] = mutant.after + "\n"
    compiled = BUILD / "CMakeFiles/oif_objects.dir" / (mutant.path + ".o")
    before = compiled.read_bytes()
    try:
        path.write_text("".join(lines), encoding="utf-8")
        if not build("oif_static"):
            return "invalid", ""
        if compiled.read_bytes() == before:
            return "the same", ""
        for name in [*test_names(mutant.path)[:1], "same_bits", *test_names(mutant.path)[1:]]:
            if not tests.passes(name):
                return "killed", name
        return "survived", ""
    finally:
        path.write_text(original, encoding="utf-8")
        build("oif_static")


def prepare(paths):
    """A copy of what git knows, built once; every test must pass there."""
    shutil.rmtree(WORK, ignore_errors=True)
    TREE.mkdir(parents=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        (TREE / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, TREE / name)
    configured = run(["cmake", "-G", "Ninja", "-S", str(TREE), "-B", str(BUILD), "-DOIF_TESTS=ON", "-DCMAKE_C_COMPILER=gcc",
                      "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_FLAGS_RELEASE=-O1 -w"])
    if configured is None or not build("oif_static"):
        sys.exit("the copy in build/mutation does not build")
    tests = Tests()
    for name in dict.fromkeys(name for path in paths for name in ["same_bits", *test_names(path)]):
        if not tests.passes(name):
            sys.exit(f"{name} fails without any mutant: see build/mutation")
    return tests


def report(mutants, verdicts, survivors):
    counts = collections.Counter(verdicts)
    judged = counts["killed"] + counts["survived"]
    print(f"{len(mutants)} mutants: {counts['killed']} killed, {counts['survived']} survived, "
          f"{counts['the same']} the same code, {counts['invalid']} invalid")
    if judged:
        print(f"score {100 * counts['killed'] / judged:.1f}%")
    (WORK / "survivors.txt").write_text("".join(f"{mutant}\n" for mutant in survivors), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="of src/ (all of src/detect)")
    parser.add_argument("--mutants", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    paths = [Path(path).resolve().relative_to(ROOT) for path in options.files] or [
        path.relative_to(ROOT) for path in sorted((ROOT / "src/detect").rglob("*.c"))]
    everything = [mutant for path in paths for mutant in mutants_of(path)]
    if options.list:
        print("\n".join(map(str, everything)))
        return
    mutants = random.Random(options.seed).sample(everything, min(options.mutants, len(everything)))
    tests = prepare(paths)
    verdicts, survivors = [], []
    for count, mutant in enumerate(mutants, 1):
        word, by = verdict(mutant, tests)
        verdicts.append(word)
        if word == "survived":
            survivors.append(mutant)
        print(f"{count}/{len(mutants)} {word} {by}  {mutant}", flush=True)
    report(mutants, verdicts, survivors)


if __name__ == "__main__":
    main()
