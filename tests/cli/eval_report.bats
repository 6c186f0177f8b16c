# oif eval --report: the data in the page are complete, say what the other forms say, and cannot become markup. What the browser
# makes of them is in tests/serve/page/test_page_report.py.

load helper

# Days of two sensors with faults that are labelled, and times.
make_plant() { # make_plant ROWS
    "$OIF" demo seasonal --columns 2 --rows "$1" --anomalies 0.05 | awk -F, -v OFS=, '
        NR == 1 { print "at", $0; next } { print 1767225600 + NR * 1800, $0 }' > plant.csv
}

# Reads a page by Python's HTML parser, and puts its parts into variables of the Python code on stdin: source; data, the JSON;
# sentence, what a browser without scripts shows.
read_page() { # read_page FILE [ARGUMENT...]
    { cat <<'PYTHON'
import base64, hashlib, html.parser, json, re, sys
source = open(sys.argv[1], encoding="utf-8").read()
class Parser(html.parser.HTMLParser):
    tags, open, texts, policy = [], [], {}, None
    def handle_starttag(self, tag, attributes):
        assert not any(name in ("src", "href", "style") or name.startswith("on") for name, _ in attributes), attributes
        self.tags.append(tag)
        if dict(attributes).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attributes)["content"]
        if tag != "meta":
            self.open.append((tag, dict(attributes).get("id")))
    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag, tag
    def handle_data(self, text):
        place = self.open[-1] if self.open else None
        self.texts[place] = self.texts.get(place, "") + text
parser = Parser()
parser.feed(source)
assert not parser.open, parser.open
assert parser.tags == "html head meta meta meta title style body script noscript p script".split(), parser.tags
assert not re.search(r"url\(|@import|https?://", source), "something is loaded"
def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
assert parser.policy == (f"default-src 'none'; style-src {digest(parser.texts['style', None])}; "
    f"script-src {digest(parser.texts['script', None])}; base-uri 'none'; form-action 'none'"), parser.policy
data = json.loads(parser.texts["script", "data"], parse_constant=lambda word: sys.exit(f"{word} is not JSON"))
sentence = parser.texts["p", None]
assert "<" not in parser.texts["script", "data"], "a name could end the script"
PYTHON
        cat; } > read_page.py
    python3 read_page.py "$@"
}

@test "the page says what the JSON says" {
    make_plant 6000
    "$OIF" eval --label label --time at --alerts 1/day --detector rolling-iforest,loda --json --report page.html plant.csv > measured.json
    read_page page.html <<'PYTHON'
found = json.load(open("measured.json"))
ranked = sorted(found["results"], key=lambda result: result["rank"])
assert [one["name"] for one in data["detectors"]] == [one["detector"] for one in ranked]
for one, result in zip(data["detectors"], ranked):
    assert one["mean"] == one["first_run"] == {name: result[name] for name in one["mean"]}, one
    assert set(one["spread"].values()) == {None} and len(one["mean"]) == 20, one["spread"]
for name in ("rows", "anomalies", "labelled_episodes", "keys"):
    assert data[name] == found[name], name
best, all_ = ranked[0], found["labelled_episodes"]
counts = best["found"], all_ - best["found"], best["false_episodes"]
assert (data["found"], data["missed"], data["false"]) == counts
assert sentence.startswith("%s, 6000 rows with %d labelled episodes: %d found, %d missed, %d false." %
                           (best["detector"], all_, *counts)), sentence
assert (data["name"], data["alerts_by"], data["is_timed"], data["runs"]) == ("plant.csv", "--alerts 1/day", True, 1)
cards = data["episodes"]
assert 3 < len(cards) <= 12 and [card["kind"] for card in cards] == sorted((card["kind"] for card in cards), key="found missed false".split().index)
for card in cards:
    rows = card["rows"]
    assert card["first"] in rows and card["last"] in rows and rows == sorted(rows) and len(rows) <= 600
    assert all(len(card[name]) == len(rows) for name in ("seconds", "labelled", "alerts"))
    inside = [(is_, alert) for row, is_, alert in zip(rows, card["labelled"], card["alerts"]) if card["first"] <= row <= card["last"]]
    if card["kind"] == "false":
        assert not any(is_ and alert for is_, alert in inside) and any(alert for _, alert in inside), card
    else:
        assert all(is_ for is_, _ in inside) and any(alert for _, alert in inside) == (card["kind"] == "found"), card
    if card["kind"] == "found":
        assert [alert for _, alert in inside].index(1) == card["delay_rows"], card
        assert card["reasons"] and card["reasons"][0]["column"] == card["columns"][0]["name"], card
    assert len(card["columns"]) == 2 and all(len(column["values"]) == len(rows) for column in card["columns"])
PYTHON
}

@test "the chart of severities has every alert and every labelled episode" {
    make_plant 880 # fewer rows than the picture has columns
    "$OIF" eval --label label --time at --alert-rate 0.05 --json --report page.html plant.csv > measured.json
    "$OIF" score --label label --time at --alert-rate 0.05 plant.csv > scored.csv
    read_page page.html <<'PYTHON'
import csv
rows = list(csv.DictReader(open("scored.csv")))
shown = data["severities"]
def series(name, is_wanted=lambda row: True):
    return [float(row[name]) if row[name] and is_wanted(row) else None for row in rows]
def near(a, b):
    return len(a) == len(b) and all(x == y or abs(x - y) < 0.0051 for x, y in zip(a, b))
alerts = lambda label: series("severity", lambda row: row["anomaly"] == "1" and row["label"] == label)
assert near(shown["low"], series("severity")) and shown["low"] == shown["high"]
assert near(shown["hit"], alerts("1")) and near(shown["wrong"], alerts("0"))
assert any(shown["hit"]) and any(shown["wrong"])
assert shown["labelled"] == [1 if row["label"] == "1" else None for row in rows]
assert shown["seconds"] == [float(row["at"]) for row in rows] and data["times"] == [shown["seconds"][0], shown["seconds"][-1]]
thresholds = [limit for limit in shown["threshold"] if limit is not None]
assert 0 < len(thresholds) < len(rows), len(thresholds)
PYTHON
}

@test "the columns around an episode have what was expected of them" {
    make_plant 6000
    options="--label label --time at --alert-rate 0.02 --season 1d"
    "$OIF" eval $options --report page.html plant.csv > /dev/null
    "$OIF" score $options --fields why,expected plant.csv > scored.csv
    read_page page.html <<'PYTHON'
import csv, re
scored = list(csv.DictReader(open("scored.csv")))
near = lambda a, b: abs(a - float(b)) <= 1e-3 * abs(a)
compared = set()
for card in data["episodes"]:
    for column in card["columns"]:
        changes = column["expected"]
        assert [change[0] for change in changes] == sorted({change[0] for change in changes}) and len(changes) <= len(card["rows"])
        assert all(low is None and high is None or low <= high for _, low, high in changes), changes
        for i, row in enumerate(card["rows"]):
            why = scored[row - 1]
            said = re.search(r", expected (\S+) to (\S+)$", why["expected"])
            if said and why["why"].split(" ")[0] == column["name"]:
                _, low, high = [change for change in changes if change[0] <= i][-1]
                assert near(low, said[1]) and near(high, said[2]), (row, low, high, why)
                compared.add((low, high))
            elif row < 100:
                assert not [change for change in changes if change[0] <= i and change[1] is not None], (row, changes)
assert len(compared) > 2, compared
PYTHON
}

@test "the curves have the areas that are measured, and the dots are the alerts" {
    make_plant 6000
    "$OIF" eval --label label --exclude at --alert-rate 0.02 --json --report page.html plant.csv > measured.json
    read_page page.html <<'PYTHON'
measured = json.load(open("measured.json"))
one, all_, count = data["detectors"][0], data["anomalies"], data["rows"]
roc = [(0, 0)] + [((rows - labelled) / (count - all_), labelled / all_) for rows, labelled in one["curve"]]
recall = [(labelled / all_, labelled / rows) for rows, labelled in one["curve"]]
area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(roc, roc[1:]))
assert abs(area - measured["roc_auc"]) < 0.01, (area, measured["roc_auc"])
assert one["curve"][-1] == [count, all_] and 20 < len(roc) < 2000, len(roc)
average = sum((b[0] - a[0]) * b[1] for a, b in zip([(0, 1)] + recall, recall))
assert abs(average - measured["average_precision"]) < 0.03, (average, measured["average_precision"])
assert (one["first_run"]["alerts"], one["first_run"]["precision"]) == (measured["alerts"], measured["precision"])
PYTHON
}

@test "names, keys and labels from outside stay text" {
    make_plant 2000
    evil='</title><script>alert(1)</script>'
    awk -F, -v OFS=, -v evil="$evil" '
        NR == 1 { print "at", "<img src=x onerror=y>&\342\200\250", "x1\"\047", "<b>label</b>", "<i>host</i>"; next }
        { print $1, $2, $3, ($4 ? "<i>\001anomaly" : "normal"), (NR % 2 ? evil : "\377\033[31m&amp;") }' plant.csv > "<u>&.csv"
    "$OIF" eval --label '<b>label</b>' --key '<i>host</i>' --time at --alert-rate 0.02 --report page.html "<u>&.csv" > /dev/null
    read_page page.html <<'PYTHON'
evil = "</title><script>alert(1)</script>"
names = {column["name"] for card in data["episodes"] for column in card["columns"]}
assert data["name"] == "<u>&.csv" and names == {"<img src=x onerror=y>&\u2028", "x1\"'"}, names
keys = {card["key"] for card in data["episodes"]}
assert keys <= {evil, "\ufffd\x1b[31m&amp;"} and len(keys) == 2, keys
PYTHON
}

@test "the page changes no result, and comes from a pipe too" {
    make_plant 3000
    "$OIF" eval --label label --time at --alert-rate 0.02 --all --json plant.csv | grep -v seconds > without
    "$OIF" eval --label label --time at --alert-rate 0.02 --all --json --report page.html plant.csv | grep -v seconds | cmp - without
    cat plant.csv | "$OIF" eval --label label --time at --alert-rate 0.02 --all --json --report piped.html - > /dev/null
    sed 's/\\u003cstdin>/plant.csv/g' piped.html | cmp - page.html
}

@test "many rows make a page of some hundred kilobytes, and no spike is lost" {
    "$OIF" demo seasonal --columns 2 --rows 200000 --anomalies 0.001 > seasonal.csv
    "$OIF" eval --label label --detector online-iforest --report page.html seasonal.csv > /dev/null
    [ "$(stat -c %s page.html)" -lt 400000 ]
    "$OIF" score --label label --detector online-iforest seasonal.csv | cut -d , -f 5 | sed '1d; /^$/d' | sort -g > severities
    read_page page.html <<'PYTHON'
severities = [float(line) for line in open("severities")]
shown = data["severities"]
assert len(shown["low"]) == len(shown["high"]) == 890
for drawn, true in ((min(shown["low"]), severities[0]), (max(shown["high"]), severities[-1])):
    assert abs(drawn - true) < 0.0051, (drawn, true)
assert all(low <= high for low, high in zip(shown["low"], shown["high"])) and shown["low"] != shown["high"]
PYTHON
}

@test "streams with nothing to show make a page all the same" {
    printf 'x,y,fault\n1,,0\n2,,0\n' > normal.csv
    printf 'x,y,fault\n1,1,1\n' > anomalous.csv
    for file in normal anomalous; do
        "$OIF" eval --label fault --report $file.html $file.csv > /dev/null
        read_page $file.html <<< 'assert "labelled episodes" in sentence and data["detectors"][0]["curve"] == [], data'
    done
    "$OIF" demo seasonal --rows 3000 > seasonal.csv
    "$OIF" eval --label label --runs 3 --report runs.html seasonal.csv > /dev/null
    read_page runs.html <<'PYTHON'
one = data["detectors"][0]
assert data["runs"] == 3
assert one["spread"]["roc_auc"] > 0 and one["first_run"]["roc_auc"] != one["mean"]["roc_auc"], one
PYTHON
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
