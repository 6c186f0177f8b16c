#!/usr/bin/env python3
"""Checks the documentation: links lead somewhere, pages stay short, tables have heads, numbers agree with their source.

    tools/check/check_docs.py

A link to a page may name a heading (`page.md#heading`) as GitHub names it. Links to other hosts are not followed.
`make docs` checks the same links again as pages of the site.

Every page of docs/measurements begins with a table of date, machine and command. A line elsewhere that ends in
  <!-- from: PAGE... -->
takes its numbers from these pages: each number of the line has to occur there. Tables that follow from
benchmarks/figures.json or from other tables are computed again. Numbers that a source file sets (FROM_SOURCES) are
compared with it.
"""

import json
import re
import sys
from pathlib import Path
from urllib.parse import unquote

CHECKOUT = Path(__file__).resolve().parents[2]
README_LINES, README_WORDS = 100, 750
SHORT_PAGES = ("docs/choosing.md", "docs/reliability.md", "benchmarks/README.md")
SHORT_LINES = 120
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?[^)]*\)|\b(?:src|srcset|href)=\"([^\"]+)\"")
FENCE = re.compile(r"^\s*(```|~~~)")


def pages():
    """Every page that people read."""
    found = [*CHECKOUT.glob("*.md"), *CHECKOUT.glob("docs/**/*.md")]
    for folder in ("benchmarks", "examples", "java"):
        found += (CHECKOUT / folder).glob("**/README.md")
    return sorted(path for path in found if "build" not in path.parts and "target" not in path.parts)


def prose(text):
    """The lines outside fenced blocks, with their numbers."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            inside = not inside
        elif not inside:
            yield number, line


def anchor(heading):
    """The name of a heading, as GitHub makes it."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", words).replace(" ", "-")


def anchors(path):
    names, seen = set(), {}
    for _, line in prose(path.read_text(encoding="utf-8")):
        heading = re.match(r"#{1,6}\s+(.*?)\s*#*$", line)
        if heading:
            name = anchor(heading[1])
            names.add(f"{name}-{seen[name]}" if name in seen else name)
            seen[name] = seen.get(name, 0) + 1
        names.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
    return names


def check_link(page, target, known):
    """What is wrong with a link, or None."""
    if re.match(r"[a-z][a-z+.-]*:|//", target):
        return None
    name, _, heading = unquote(target).partition("#")
    path = (page.parent / name).resolve() if name else page
    if not path.exists():
        return "leads to no file"
    if CHECKOUT not in (path, *path.parents):
        return "leads out of the repository"
    if not heading or path.suffix != ".md":
        return None
    if path not in known:
        known[path] = anchors(path)
    return None if heading in known[path] else f"{path.name} has no heading #{heading}"


def check_links():
    known, count = {}, 0
    for page in pages():
        for number, line in prose(page.read_text(encoding="utf-8")):
            for match in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
                count += 1
                wrong = check_link(page, match[1] or match[2], known)
                if wrong:
                    yield f"{page.relative_to(CHECKOUT)}:{number}: {match[1] or match[2]}: {wrong}"
    if not count:
        yield "no links were found: the pattern is wrong"


def check_readme():
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    lines, words = len(text.splitlines()), len(text.split())
    if lines > README_LINES or words > README_WORDS:
        yield (f"README.md: {lines} lines, {words} words; at most {README_LINES} and {README_WORDS}: "
               "move what is new to a page of docs/")
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\$ *\(?(awk|seq)\b", line):
            yield f"README.md:{number}: an example begins with awk or seq; use `oif demo`"


def check_short_pages():
    for name in SHORT_PAGES:
        lines = len((CHECKOUT / name).read_text(encoding="utf-8").splitlines())
        if lines > SHORT_LINES:
            yield f"{name}: {lines} lines, at most {SHORT_LINES}: move measurements to docs/measurements"


def check_heads():
    """Every column of a table has a name."""
    for page in pages():
        lines = dict(prose(page.read_text(encoding="utf-8")))
        for number, line in lines.items():
            if re.fullmatch(r"\|(?: *:?-+:? *\|)+", line) and re.search(r"(?<!\\)\|\s*\|", lines.get(number - 1, "")):
                yield f"{page.relative_to(CHECKOUT)}:{number - 1}: a column of the table has no name: {lines[number - 1]}"


def check_indexes():
    """Two lists of all pages: docs/README.md, by question, and the menu of the site."""
    index = CHECKOUT / "docs" / "README.md"
    linked = {(index.parent / target.partition("#")[0]).resolve()
              for target in re.findall(r"\]\(([^)]+\.md)[^)]*\)", index.read_text(encoding="utf-8"))}
    menu = set(re.findall(r": ([\w./-]+\.md)$", (CHECKOUT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    for page in pages():
        name = str(page.relative_to(CHECKOUT))
        if page != index and page not in linked:
            yield f"docs/README.md: has no link to {name}"
        if name not in menu and name != "README.md":
            yield f"mkdocs.yml: the menu lacks {name}"


# ---- Measurements and the numbers taken from them ----

BEGINNING = re.compile(r"# .+\n\n\| date \| machine \| command \|\n\| --- \| --- \| --- \|\n"
                       r"\| 20\d\d-\d\d-\d\d[^|]* \| [^|]+ \| [^|]*`[^|]+ \|\n")
FROM = re.compile(r"^(.*)<!-- from: (.*) -->(?: \|)?$")
NUMBER = re.compile(r"(?<![\w.,])\.?\d(?:[\d,]*\d)?(?:\.\d+)?")
SPEED_SETS = (("Http", 3), ("Shuttle", 9), ("Satellite", 36))


def measurement(name):
    return (CHECKOUT / "docs" / "measurements" / f"{name}.md").read_text(encoding="utf-8")


def check_beginnings():
    for page in sorted((CHECKOUT / "docs" / "measurements").glob("*.md")):
        if not BEGINNING.match(page.read_text(encoding="utf-8")):
            yield f"{page.relative_to(CHECKOUT)}: does not begin with a title and a table of date, machine and command"


def numbers_of(text):
    """The numbers of a line, without those in code and in the targets of links."""
    return set(NUMBER.findall(re.sub(r"`[^`]*`|\]\([^)]*\)", " ", text)))


def check_numbers():
    count = 0
    for page in pages():
        for number, line in prose(page.read_text(encoding="utf-8")):
            taken = FROM.match(line)
            if taken:
                count += 1
                source = " ".join((CHECKOUT / name).read_text(encoding="utf-8") for name in taken[2].split())
                for missing in sorted(numbers_of(taken[1]) - numbers_of(source)):
                    yield f"{page.relative_to(CHECKOUT)}:{number}: {missing} is not in {taken[2]}"
    if not count:
        yield "no line names the source of its numbers: the pattern is wrong"


# A number of a page, and the source file that sets it.
FROM_SOURCES = (
    ("README.md", r"first alert may come after (\d+) rows", "include/oif.h", r"OIF_FIRST_ROWS = (\d+)"),
    ("README.md", r"a \[short file\]\S* (?:without `--key` )?(\d+)\.", "front/columns/short_input.h", r"SHORT_INPUT_ROWS_MIN = (\d+)"),
    ("docs/manual/short.md", r"regular files of \d+ to ([\d,]+) rows", "front/columns/short_input.h", r"SHORT_INPUT_ROWS_MAX = (\d+)"),
    ("docs/reliability.md", r"\| (\d+) detectors of every kind", "tests/snapshot/test_detector_snapshot.c", r"atoi\(wanted\) : (\d+)"),
    ("docs/reliability.md", r"\| (\d+) times `kill -9`: the file", "tests/snapshot/test_kill.c", r"TRIALS\", (\d+)"),
    ("docs/reliability.md", r"keys; (\d+) times `kill -9`", "tests/pipeline/test_evicted_models_kill.c", r"TRIALS\", (\d+)"),
    ("docs/reliability.md", r"\| (\d+) times `kill -9` while", "tests/serve/test_kill.py", r"KILLS\", \"(\d+)"),
    ("docs/reliability.md", r"\| ([\d^]+) numbers beside strtod", "tests/base/test_number_text.c", r"TRIALS\", (\d+)"),
    ("docs/reliability.md", r"\| ([\d^]+) generated lines", "tests/rows/test_ndjson_python.py", r"LINES\", \"(\d+)"),
    ("docs/reliability.md", r"every harness in `fuzz/` with all findings and (\d+)", "tests/CMakeLists.txt", r"OIF_REPLAY_DAMAGED=(\d+)"),
)


def whole_number(text):
    """Of 2,000 or 10^5."""
    base, _, power = text.replace(",", "").partition("^")
    return int(base) ** int(power or 1)


def check_sources():
    for page, shown, source, given in FROM_SOURCES:
        found = [re.search(pattern, (CHECKOUT / name).read_text(encoding="utf-8")) for name, pattern in ((page, shown), (source, given))]
        if not all(found):
            yield f"{page}: no number matches {shown}, or {source} has none that matches {given}"
        elif whole_number(found[0][1]) != whole_number(found[1][1]):
            yield f"{page}: {found[0][0]}, but {source} has {found[1][0]}"


def three_digits(number):
    return f"{float(f'{number:.3g}'):,.0f}"


def check_speed():
    """The date, the table of the default detector, and nanoseconds per row in docs/choosing.md, from the results of `make bench`."""
    speed = json.loads((CHECKOUT / "benchmarks" / "figures.json").read_text(encoding="utf-8"))["speed"]
    if f"| {speed['date']} |" not in measurement("bench") or f"| `{speed['command']}` |" not in measurement("bench"):
        yield f"docs/measurements/bench.md: benchmarks/figures.json is of {speed['date']}, {speed['command']}"
    rates = {method["name"]: method["rows_per_second"] for method in speed["methods"]}
    for name, columns in SPEED_SETS:
        ours, cells = rates["rolling-iforest"][name], []
        for other in ("River HalfSpaceTrees", "AWS RandomCutForest"):
            cells += [three_digits(1e9 / rates[other][name]), f"{ours / rates[other][name]:.0f}"]
        line = " | ".join([f"| {name} ({columns})", three_digits(1e9 / ours), *cells]) + " |"
        if line not in measurement("bench"):
            yield f"docs/measurements/bench.md: should have the line {line}"
    yield from check_detectors({name: three_digits(1e9 / rate["Shuttle"]) for name, rate in rates.items()})


# A page of a detector, and the column of its first table of data sets that has the AUCs of `experiments/run.sh paper`.
AUC_COLUMNS = {"rolling-iforest": 1, "online-iforest": 3, "iforest-asd": 1, "hst": 1, "rrcf": 1, "loda": 1}
DATA_SETS = ("Donors", "Http", "ForestCover", "fraud_partial", "Mulcross", "Smtp", "Shuttle", "Mammography", "nyc_taxi_shingle",
             "Annthyroid", "Satellite")


def cells_of(text, name):
    """The first line of a table that begins with a name; its cells without bold type."""
    line = re.search(rf"^\| {name}\b.*\|$", text, re.MULTILINE)
    return [cell.strip(" *") for cell in line[0].strip("|").split("|")] if line else []


def check_aucs():
    """The medians in docs/algorithms are those of docs/measurements/paper-auc.md."""
    source = measurement("paper-auc")
    head = cells_of(source, "data set")
    for detector, column in AUC_COLUMNS.items():
        page = (CHECKOUT / "docs" / "algorithms" / f"{detector}.md").read_text(encoding="utf-8")
        for name in DATA_SETS:
            wanted = cells_of(source, name)[head.index(detector)]
            shown = cells_of(page, name)[column:column + 1]
            if not shown or shown[0].partition(" ")[0].lstrip("0") != wanted:
                yield f"docs/algorithms/{detector}.md: the AUC of {name} is {wanted} in docs/measurements/paper-auc.md"


def mean_aucs():
    """Of each detector: from `experiments/run.sh paper`, and where that has none, from `experiments/run.sh accuracy`."""
    first_table = measurement("accuracy").partition("2,000 rows of each set")[0]
    aucs = dict(re.findall(r"^\| `([\w-]+)` \| \**(\.\d+)", first_table, re.MULTILINE))
    table = re.search(r"^\| data set \|(.*)\|$(?:\n\|.*)*?\n\| mean \|(.*)\|$", measurement("paper-auc"), re.MULTILINE)
    return aucs | {name.strip(): mean.strip(" *") for name, mean in zip(table[1].split("|"), table[2].split("|"))}


def check_detectors(nanoseconds):
    """The table of detectors in docs/choosing.md: events found, AUC, nanoseconds, KB."""
    aucs, count = mean_aucs(), 0
    events = dict(re.findall(r"^\| `([\w-]+)`[^|]*(?:\|[^|]*){2}\| (\.\d+) \| [\d.]+ \|$", measurement("reality"), re.MULTILINE))
    kilobytes = dict(re.findall(r"^\| `([\w-]+)` \| [\d,]+ \| ([\d,]+) \|$", measurement("bench-quick"), re.MULTILINE))
    printed = dict(re.findall(r"^\| `([a-z-]+)` \|.* \| (\d+) \|$", measurement("memory"), re.MULTILINE))
    if printed != {name: text.replace(",", "") for name, text in kilobytes.items()}:
        yield f"docs/measurements/bench-quick.md: KB are not those of docs/measurements/memory.md, {printed}"
    for line in (CHECKOUT / "docs" / "choosing.md").read_text(encoding="utf-8").splitlines():
        detector = re.match(r"\| \[`([\w-]+)`\]\(algorithms/", line)
        if detector:
            count += 1
            wanted = [source.get(detector[1]) for source in (events, aucs, nanoseconds, kilobytes)]
            if [cell.strip() for cell in line.split("|")[3:7]] != wanted:
                yield f"docs/choosing.md: {detector[1]} has {', '.join(map(str, wanted))} in docs/measurements"
    if count != len(kilobytes):
        yield f"docs/choosing.md: the table has {count} detectors, docs/measurements/bench-quick.md {len(kilobytes)}"


def check_instructions():
    """The first table of docs/measurements/bench-quick.md, from the limits of `make bench-quick`."""
    limits = json.loads((CHECKOUT / "benchmarks" / "limits.json").read_text(encoding="utf-8"))["limits"]
    counts = limits["x86_64-avx2"]["instructions_a_row"]
    for name, shown in re.findall(r"^\| `([\w-]+)` \| ([\d,]+) \| [\d,]+ \|$", measurement("bench-quick"), re.MULTILINE):
        count = counts.get(f"{name}/learn-score/d=10") or counts[f"{name}/row/learn-score/d=10/gaussian"]
        if f"{count:,.0f}" != shown:
            yield f"docs/measurements/bench-quick.md: {name} takes {count:,.0f} instructions in benchmarks/limits.json"


def check_events():
    """The sums of docs/measurements/reality.md over all families of a collection."""
    page, counts = measurement("reality"), []
    for collection in ("real", "fresh"):
        table = page.partition(f"### Labelled series: {collection}")[2].partition("\n### ")[0]
        families = re.split(r"\| \*\*(?:short|longer) series", table)[0]
        for scorer in ("oif score", "step > 2.5 usual"):
            found = re.findall(rf"^\| {scorer} (?:\|[^|]*){{3}}\| (\d+)/(\d+) \|", families, re.MULTILINE)
            counts.append([sum(map(int, column)) for column in zip(*found)])
    (ours, real), (yardstick, _), (ours_fresh, fresh), (yardstick_fresh, _) = counts
    sentence = (f"Of the {real} events of `real` `oif score` finds {ours} and the yardstick {yardstick}, "
                f"of the {fresh:,} of `fresh` {ours_fresh} and {yardstick_fresh}.")
    if sentence not in " ".join(page.split()):
        yield f"docs/measurements/reality.md: should say: {sentence}"


if __name__ == "__main__":
    complaints = [*check_links(), *check_readme(), *check_short_pages(), *check_heads(), *check_indexes(), *check_beginnings(),
                  *check_numbers(), *check_sources(), *check_speed(), *check_aucs(), *check_instructions(), *check_events()]
    print("\n".join(complaints) or f"{len(pages())} pages: nothing to report")
    sys.exit(bool(complaints))
