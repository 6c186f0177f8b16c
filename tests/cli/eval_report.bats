# oif eval --report: the page is well-formed, harmless, complete, and says what the other forms say.

load helper

# Days of two sensors with faults that are labelled, and times.
make_plant() { # make_plant ROWS
    "$OIF" generate seasonal --columns 2 --rows "$1" --anomalies 0.05 | awk -F, -v OFS=, '
        NR == 1 { print "at", $0; next } { print 1767225600 + NR * 1800, $0 }' > plant.csv
}

# Reads a page as XML and by Python's HTML parser, and puts its parts into variables of the Python code on stdin: text, all of
# its text; svgs, its drawings; tags, the names of all elements.
read_page() { # read_page FILE [ARGUMENT...]
    { cat <<'PYTHON'
import html.parser, json, re, sys, xml.etree.ElementTree as ET
source = open(sys.argv[1], encoding="utf-8").read()
root = ET.fromstring(source)
SVG = "{http://www.w3.org/2000/svg}"
text = " ".join(root.itertext())
svgs = [e for e in root.iter(SVG + "svg") if e.get("role") == "img"]
class Parser(html.parser.HTMLParser):
    tags, open = [], []
    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        self.open.append(tag)
    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)
        assert not any(name in ("src", "href") or name.startswith("on") for name, _ in attributes), attributes
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
parser = Parser()
parser.feed(source)
assert not parser.open, parser.open
tags = set(parser.tags)
assert tags <= set("html head meta title style body h1 h2 h3 p code table tr th td div span ul li svg path rect circle line text".split()), tags
assert not re.search(r"url\(|@import", source), "something is loaded"
def of_class(element, name):
    return [e for e in element.iter() if e.get("class") == name]
PYTHON
        cat; } > read_page.py
    python3 read_page.py "$@"
}

@test "the page says what the JSON says" {
    make_plant 6000
    "$OIF" eval --label label --time at --alerts 1/day --detector rolling-iforest,loda --json --report page.html plant.csv > measured.json
    read_page page.html <<'PYTHON'
found = json.load(open("measured.json"))
best = min(found["results"], key=lambda result: result["rank"])
all_ = found["labelled_episodes"]
for words in (f"{best['found']} of {all_} labelled episodes", f"{best['false_episodes']} episodes without a labelled row",
              f"{best['alerts']} rows, in {best['episodes']} episodes", f"{100 * best['precision']:.1f}% (precision)",
              f"{100 * best['recall']:.1f}% (recall)", f"after {best['rows_not_ready']} rows",
              f"ROC AUC {best['roc_auc']:.4f}, average precision {best['average_precision']:.4f}",
              f"{best['found']} found, {all_ - best['found']} missed, {best['false_episodes']} false"):
    assert words in text, words
rows = [row for row in root.iter("tr") if row.find("th") is not None and row.find("th").text in ("rolling-iforest", "loda")]
assert [row.find("th").text for row in rows] == [r["detector"] for r in sorted(found["results"], key=lambda r: r["rank"])], rows
assert len(svgs) == 1 + len(of_class(root, "card")) + 2, len(svgs)
assert 3 < len(of_class(root, "card")) <= 12
PYTHON
}

@test "the chart of the scores has every alert and every labelled episode" {
    make_plant 880 # fewer rows than the picture has columns
    "$OIF" eval --label label --time at --alert-rate 0.05 --json --report page.html plant.csv > measured.json
    "$OIF" score --label label --time at --alert-rate 0.05 plant.csv > scored.csv
    read_page page.html <<'PYTHON'
import csv
rows = list(csv.DictReader(open("scored.csv")))
alerts = [row for row in rows if row["anomaly"] == "1"]
hits = sum(row["label"] == "1" for row in alerts)
chart = svgs[0]
assert 0 < hits < len(alerts), alerts
assert (len(of_class(chart, "hit")), len(of_class(chart, "wrong"))) == (hits, len(alerts) - hits), (hits, len(alerts))
assert len(of_class(chart, "labelled")) == json.load(open("measured.json"))["labelled_episodes"]
points = re.findall(r"[ML]([\d.]+) ([\d.]+)", of_class(chart, "curve")[0].get("d"))
assert len(points) == len(rows), len(points)
scores = [float(row["score"]) for row in rows]
low, high = min(scores), max(scores)
for (x, y), score, i in zip(points, scores, range(len(rows))):
    assert abs(float(x) - (60 + 890 * (i + 0.5) / len(rows))) < 0.1, (x, i)
    assert abs(float(y) - (280 - 250 * ((score - low) / (high - low) * 20 / 22 + 1 / 22))) < 0.1, (y, score)
PYTHON
}

@test "the curves have the areas that are measured, and the dots are the alerts" {
    make_plant 6000
    "$OIF" eval --label label --exclude at --alert-rate 0.02 --json --report page.html plant.csv > measured.json
    read_page page.html <<'PYTHON'
measured = json.load(open("measured.json"))
def curve(svg):
    path = [e for e in of_class(svg, "c0") if e.tag == SVG + "path"][0].get("d")
    return [((float(x) - 45) / 320, (330 - float(y)) / 300) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)]
roc, recall = curve(svgs[-2]), curve(svgs[-1])
area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(roc, roc[1:]))
assert abs(area - measured["roc_auc"]) < 0.01, (area, measured["roc_auc"])
assert roc[0] == (0, 0) and roc[-1] == (1, 1), roc
average = sum((b[0] - a[0]) * b[1] for a, b in zip([(0, 1)] + recall, recall))
assert abs(average - measured["average_precision"]) < 0.03, (average, measured["average_precision"])
dot = of_class(svgs[-1], "dot c0")[0]
x, y = (float(dot.get("cx")) - 45) / 320, (330 - float(dot.get("cy"))) / 300
assert abs(x - measured["recall"]) < 0.01 and abs(y - measured["precision"]) < 0.01, (x, y)
PYTHON
}

@test "names, keys and labels from outside stay text" {
    make_plant 2000
    evil='</title><script>alert(1)</script>'
    awk -F, -v OFS=, -v evil="$evil" '
        NR == 1 { print "at", "<img src=x onerror=y>&", "x1\"\047", "<b>label</b>", "<i>host</i>"; next }
        { print $1, $2, $3, ($4 ? "<i>\001anomaly" : "normal"), (NR % 2 ? evil : "\377\033[31m&amp;") }' plant.csv > "<u>&.csv"
    "$OIF" eval --label '<b>label</b>' --key '<i>host</i>' --time at --alert-rate 0.02 --report page.html "<u>&.csv" > /dev/null
    read_page page.html <<'PYTHON'
assert "<u>&.csv" in text and "<img src=x onerror=y>&" in text and "x1\"'" in text and "</title><script>alert(1)</script>" in text
assert "\ufffd\ufffd[31m&amp;" in text, "bytes that are not text"
assert "script" not in tags and "img" not in tags and "<script" not in source, tags
PYTHON
}

@test "the page changes no result, and comes from a pipe too" {
    make_plant 3000
    "$OIF" eval --label label --time at --alert-rate 0.02 --all --json plant.csv | grep -v seconds > without
    "$OIF" eval --label label --time at --alert-rate 0.02 --all --json --report page.html plant.csv | grep -v seconds | cmp - without
    cat plant.csv | "$OIF" eval --label label --time at --alert-rate 0.02 --all --json --report piped.html - > /dev/null
    sed 's/&lt;stdin&gt;/plant.csv/g' piped.html | cmp - page.html
}

@test "many rows make a page of some hundred kilobytes, and no spike is lost" {
    "$OIF" generate toy --rows 200000 --anomalies 0.001 > toy.csv
    "$OIF" eval --label label --detector online-iforest --report page.html toy.csv > /dev/null
    [ "$(stat -c %s page.html)" -lt 400000 ]
    "$OIF" score --label label --detector online-iforest toy.csv | cut -d , -f 4 | tail -n +2 | sort -g > scores
    read_page page.html <<'PYTHON'
scores = [float(line) for line in open("scores")]
low, high = scores[0], scores[-1]
ticks = [float(e.text.replace(",", "")) for e in of_class(svgs[0], "tick") if not e.text.startswith("row")]
lines = [float(e.get("y1")) for e in of_class(svgs[0], "grid")]
assert len(ticks) == len(lines) > 2, ticks
for tick, y in zip(ticks, lines):
    assert abs(y - (280 - 250 * ((tick - low) / (high - low) * 20 / 22 + 1 / 22))) < 0.1, (tick, y, low, high)
ys = [float(y) for _, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", of_class(svgs[0], "curve")[0].get("d"))]
assert 890 < len(ys) <= 2 * 890 and abs(min(ys) - (280 - 250 * 21 / 22)) < 0.2 and abs(max(ys) - (280 - 250 / 22)) < 0.2, (len(ys), min(ys), max(ys))
PYTHON
}

@test "streams with nothing to show make a page all the same" {
    printf 'x,y,fault\n1,,0\n2,,0\n' > normal.csv
    printf 'x,y,fault\n1,1,1\n' > anomalous.csv
    for file in normal anomalous; do
        "$OIF" eval --label fault --report $file.html $file.csv > /dev/null
        read_page $file.html <<< 'assert "labelled episodes" in text'
    done
    "$OIF" generate toy --rows 3000 > toy.csv
    "$OIF" eval --label label --threshold 1e9 --shingle 4 --runs 3 --report toy.html toy.csv > /dev/null
    read_page toy.html <<< 'assert "nothing was found" in text and "means of 3 runs" in text'
}

@test "a page that cannot be written is an error, and the one before stays" {
    make_plant 1000
    echo before > page.html
    oif eval --label label --time at --report nowhere/page.html plant.csv
    exits 1 "oif: nowhere/page.html: the rows for its charts cannot be kept beside it: No such file or directory"
    oif eval --label label --time at --report /dev/full plant.csv
    exits 1 "oif: /dev/full: No space left on device"
    [ -c /dev/full ]
    sed '$s/0$/maybe/; 900s/[01]$/perhaps/' plant.csv > odd.csv
    oif eval --label label --time at --report page.html odd.csv
    equal "$status" 1
    equal "$(cat page.html)" before
    "$OIF" eval --label label --time at --report page.html plant.csv > /dev/null
    grep -q '</html>' page.html
    equal "$(stat -c %a page.html)" "$(touch new && stat -c %a new)"
    equal "$(echo page*)" page.html
}

@test "on a full disk the page before stays, and nothing is left over" {
    make_plant 1000
    echo before > page.html
    for kilobytes in 8:'the rows for its charts cannot be kept beside it: ' 24:''; do
        run --separate-stderr bash -c "ulimit -f ${kilobytes%%:*}; '$OIF' eval --label label --time at --report page.html plant.csv"
        exits 1 "oif: page.html: ${kilobytes#*:}File too large"
        equal "$(cat page.html) $(echo page*)" "before page.html"
    done
}

@test "numbers beside axes are short, whatever their size" {
    make_plant 3000
    awk -F, -v OFS=, 'NR > 1 { $2 *= 54321; $3 /= 1e9 } 1' plant.csv > scaled.csv
    "$OIF" eval --label label --time at --alert-rate 0.02 --report page.html scaled.csv > /dev/null
    read_page page.html <<'PYTHON'
numbers = {e.text for svg in svgs for e in of_class(svg, "tick") if e.get("text-anchor") == "end" and float(e.get("x")) < 60}
assert max(map(len, numbers)) <= 8, numbers
assert any(number.endswith("M") for number in numbers) and any("e-0" in number for number in numbers), numbers
PYTHON
}
