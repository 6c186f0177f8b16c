"""The page of `oif eval --report` in a browser: it draws all it has, in any colours and widths, and names stay text.

What the data are is checked by tests/cli/eval_report.bats.
"""

import json
import re
import subprocess

import pytest
from axe_playwright_python.sync_playwright import Axe
from page_server import OIF, RECORD_TEXTS, picture, wait_until

HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>\u2028", "a\u202eb & 'c' \"d\"", "n" * 300]

# How many canvases have a colour of theirs: a line of a score or of a column, or of the first curve.
DRAWN_CANVASES = """() => [...document.querySelectorAll("canvas")].filter(canvas => {
    const probe = document.body.appendChild(document.createElement("span"));
    const wanted = ["line", "c0"].map(name => {
        probe.style.color = `var(--${name})`;
        return getComputedStyle(probe).color.match(/\\d+/g).map(Number);
    });
    probe.remove();
    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    for (let i = 0; i < data.length; i += 4)
        if (data[i + 3] > 120 && wanted.some(colour => colour.every((value, c) => Math.abs(data[i + c] - value) < 12)))
            return true;
    return false;
}).length"""


@pytest.fixture
def write_report(tmp_path):
    """write_report(option...): the URL of the page of 2000 rows of two columns with labels and times, and its data."""

    def write(*options, names=("x0", "x1"), keys=("",), scale=(1, 1), name="plant.csv"):
        made = subprocess.run([OIF, "demo", "seasonal", "--columns", "2", "--rows", "2000", "--anomalies", "0.05"],
                              check=True, capture_output=True, text=True).stdout.splitlines()[1:]
        quoted = ['"' + one.replace('"', '""') + '"' for one in (*names, *keys)]
        lines = [f"at,{quoted[0]},{quoted[1]},label,host"]
        for i, line in enumerate(made):
            x0, x1, label = line.split(",")
            label = label if i < 1300 else "0"  # so an alert is false
            host = quoted[len(names) + i % len(keys)]
            lines.append(f"{1767225600 + 1800 * i},{float(x0) * scale[0]},{float(x1) * scale[1]},{label},{host}")
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        command = [OIF, "eval", "--label", "label", "--time", "at", "--alert-rate", "0.02", *options,
                   *(["--key", "host"] if len(keys) > 1 else ["--exclude", "host"]), "--report", "page.html", name]
        subprocess.run(command, check=True, cwd=tmp_path, stdout=subprocess.DEVNULL)
        text = (tmp_path / "page.html").read_text()
        data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])
        return f"file://{tmp_path}/page.html", data

    return write


@pytest.fixture
def open_report(open_page):
    def open_one(url, **options):
        page = open_page(url, wait="main canvas", **options)
        wait_until(page, "document.querySelector('canvas').width > 200")
        return page

    return open_one


def chart_count(data):
    return 1 + sum(len(card["columns"]) for card in data["episodes"]) + 2


def test_words_tables_and_charts_show_the_data(write_report, open_report):
    url, data = write_report("--detector", "rolling-iforest,loda", "--runs", "2")
    page = open_report(url)
    best = data["detectors"][0]
    text = page.inner_text("main")
    for words in (f"Best of several detectors: {best['name']}, alerts by --alert-rate 0.02. 2,000 rows, 2 columns",
                  "2026-01-01 00:00 to 2026-02-11 15:30. Numbers are means of 2 runs",
                  f"of {data['labelled_episodes']} labelled episodes (", f"{100 * best['mean']['precision']:.1f}% (precision)",
                  f"{100 * best['mean']['recall']:.1f}% (recall)", "labelled episodes lie before that",
                  f"ROC AUC {best['mean']['roc_auc']:.4f}, average precision {best['mean']['average_precision']:.4f}",
                  f"{data['found']} found, {data['missed']} missed, {data['false']} false", "severity, lowest to highest", "threshold",
                  "alert, not labelled", "Times are UTC.", "± is the standard deviation"):
        assert words in text, words
    titles = page.locator(".scroll th[scope=row]").all_inner_texts()
    assert titles == [one["name"] for one in data["detectors"]]
    assert page.locator(".scroll .bar").count() == 6 * 2
    badges = page.locator(".card .badge").all_inner_texts()
    assert badges == [card["kind"] for card in data["episodes"]] and {"found", "missed", "false"} == set(badges)
    for card, shown in zip(data["episodes"], page.locator(".cards .card").all_inner_texts()):
        assert f"row {card['first']:,}" in shown or f"rows {card['first']:,} to {card['last']:,}" in shown
        for reason in card.get("reasons", []):
            share = f" {100 * reason['share']:.0f}%" if reason["share"] < 0.995 else ""
            assert f"{reason['column']} {reason['text']}{share}" in shown, shown
    assert page.locator("canvas[role=img][aria-label]").count() == chart_count(data)
    wait_until(page, f"({DRAWN_CANVASES})() === {chart_count(data)}")
    picture(page, "report", full_page=True)


def test_keys_have_no_common_threshold(write_report, open_report):
    url, data = write_report(keys=("east", "west"))
    text = open_report(url).inner_text("main")
    assert "2 keys" in text and "Each key has its own threshold." in text and "\nthreshold\n" not in text
    assert all(f"{card['key']}, 2026-" in text for card in data["episodes"])


def test_hostile_names_stay_text(write_report, open_report):
    url, data = write_report(names=HOSTILE[:2], keys=HOSTILE[2:], name="<u>&.csv")
    page = open_report(url)
    text = page.inner_text("main")
    assert page.inner_text("h1") == "<u>&.csv" and page.title() == "oif eval: <u>&.csv"
    titles = set(page.locator(".cards h4").evaluate_all("all => all.map(one => one.firstChild.textContent)"))
    assert titles == {HOSTILE[0], "<img src=x onerror=alert(2)>\\u2028"}
    assert "a\\u202eb & 'c' \"d\"" in text and "n" * 79 + "…" in text
    assert page.locator("img, u, main script, iframe, object, link").count() == 0
    assert page.evaluate("document.scripts.length") == 2


def test_no_other_script_runs(write_report, open_report):
    page = open_report(write_report()[0], expect_errors=True)
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.ran = true";
        document.body.append(script);
        document.body.insertAdjacentHTML("beforeend", "<details open ontoggle='window.ran = true'></details><p style='color: red' id=p>x</p>");
    }""")
    page.wait_for_timeout(300)
    assert page.evaluate("window.ran") is None
    assert page.evaluate("getComputedStyle(document.getElementById('p')).color") != "rgb(255, 0, 0)"


@pytest.mark.parametrize("width", [320, 375, 768])
def test_narrow_screens_do_not_scroll_sideways(write_report, open_report, width):
    url, data = write_report("--all", names=("n" * 200, "x1"), keys=HOSTILE[2:])
    page = open_report(url, width=width, height=740, device_scale_factor=2, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    wait_until(page, f"({DRAWN_CANVASES})() === {chart_count(data)}")
    if width == 375:
        picture(page, "report-phone", full_page=True)


def test_light_and_dark_follow_the_system(write_report, open_report):
    url, data = write_report()
    page = open_report(url, color_scheme="light")
    assert not Axe().run(page).response["violations"]
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(244, 246, 248)"
    page.emulate_media(color_scheme="dark")
    wait_until(page, f"({DRAWN_CANVASES})() === {chart_count(data)}")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 20, 24)"
    assert not Axe().run(page).response["violations"]
    picture(page, "report-dark", full_page=True)


def test_axes_have_two_short_numbers_whatever_their_size(write_report, chromium):
    url, _ = write_report(scale=(54321, 1e-9))
    context = chromium.new_context()
    page = context.new_page()
    page.add_init_script(RECORD_TEXTS)
    page.goto(url)
    wait_until(page, "window.drawn.length > 20")
    drawn = page.evaluate("window.drawn")
    numbers = {one["text"] for one in drawn if one["isNumber"]}
    canvases = page.locator("canvas").count()
    context.close()
    for canvas in range(canvases):
        for is_number in (True, False):
            texts = {one["text"] for one in drawn if one["canvas"] == canvas and one["isNumber"] == is_number}
            assert len(texts) >= 2, (canvas, is_number, texts)
    assert max(map(len, numbers)) <= 8, numbers
    assert any(number.endswith("M") for number in numbers) and any("e-" in number for number in numbers), numbers


def test_without_scripts_a_sentence_has_the_result(write_report, open_page):
    url, data = write_report()
    page = open_page(url, wait=None, java_script_enabled=False)
    assert f"{data['found']} found, {data['missed']} missed, {data['false']} false." in page.inner_text("noscript")
    assert page.inner_text("body").strip() == page.inner_text("noscript").strip()
