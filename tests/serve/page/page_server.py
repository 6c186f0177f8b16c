"""`oif serve` on a free port, and what `oif score` says about the same rows."""

import csv
import io
import itertools
import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe

CHECKOUT = Path(__file__).parents[3]
OIF = os.environ.get("OIF", str(CHECKOUT / "build/release-gcc/oif"))
PICTURES = CHECKOUT / "build/page"


class Server:
    """`oif serve` in a folder of its own. Its standard error is kept in a file."""

    def __init__(self, folder, *options, listen="127.0.0.1:0"):
        self.folder, self.options, self.listen = folder, options, listen
        self.start()

    def start(self):
        self.log = open(self.folder / "log", "w+")
        command = [OIF, "serve", "--listen", self.listen, "--data", str(self.folder / "data"), *self.options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            self.log.write(line)
            found = re.search(r"listening on (https?://[0-9.:]+)", line)
            if found:
                self.url = found[1]
                self.listen = self.url.split("//")[1]
                return self.wait_until_ready()
        raise RuntimeError(f"oif serve did not start: {(self.folder / 'log').read_text()}")

    def wait_until_ready(self):
        for _ in range(6000):
            try:
                return urllib.request.urlopen(self.url + "/readyz", timeout=300).read()
            except urllib.error.HTTPError:
                time.sleep(0.05)
        raise RuntimeError("oif serve does not become ready")

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(timeout=300)

    def ask(self, method, path, body=None, content_type="application/json", token=None):
        headers = {"Content-Type": content_type}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=300) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path[:200]}: {error.code} {error.read()[:500]}") from None
        return json.loads(text) if text else None

    def create(self, name, **settings):
        return self.ask("PUT", f"/api/v1/streams/{name}", json.dumps(settings).encode())

    def post(self, name, text, content_type="text/csv"):
        return self.ask("POST", f"/api/v1/streams/{name}/rows?answer=count", text.encode(), content_type)


FIELDS = "score,threshold,severity,anomaly,grade,episode,episode_id,why"


def add_episodes(rows):
    """Adds to each row what is known of its episode by then: when it began, its rows, and its worst row."""
    known = {}
    for row in rows:
        if not row["episode_id"]:
            continue
        one = known.setdefault((row.get("pump"), row["episode_id"]), {"episode_start": row.get("time"), "episode_rows": 0, "episode_peak": -1.0})
        one["episode_rows"] += row["episode"] != "ends"
        if row["anomaly"] == "1" and float(row["severity"]) > one["episode_peak"]:
            one.update(episode_peak=float(row["severity"]), episode_why=re.sub(r" \d+%$", "", row["why"].split("; ")[0]))
        row |= one
    return rows


def oif_score(text, *options):
    """What `oif score` says about these CSV rows: a dictionary for each."""
    command = [OIF, "score", "--freeze=off", "--fields", FIELDS, *options]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return add_episodes(list(csv.DictReader(io.StringIO(run.stdout))))


# Texts on canvases, such as the numbers of axes.
RECORD_TEXTS = """
    window.drawn = [];
    const fillText = CanvasRenderingContext2D.prototype.fillText;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
        window.drawn.push({ text, isNumber: this.textAlign === "right", canvas: [...document.querySelectorAll("canvas")].indexOf(this.canvas) });
        return fillText.call(this, text, ...place);
    };
"""


def check_every_screen(page, name, widths=(1440, 820, 390)):
    """On every width and theme, nothing is beyond the right edge and axe finds nothing. Leaves a picture of each."""
    before = page.viewport_size
    for width, theme in itertools.product(widths, ("light", "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")  # in which the charts are drawn
        assert page.evaluate("document.documentElement.scrollWidth") == width, f"{name} at {width}"
        picture(page, f"{name}-{width}-{theme}", full_page=True)
        found = [(one["id"], one["nodes"][0]["html"][:200]) for one in Axe().run(page).response["violations"]]
        assert found == [], f"{name} at {width}, {theme}"
    page.set_viewport_size(before)
    page.emulate_media(color_scheme="light")


def picture(page, name, **options):
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png", **options)


def wait_until(page, condition, argument=None, seconds=120):
    """Playwright's wait_for_function needs eval, which the policy of the page forbids."""
    for _ in range(20 * seconds):
        if page.evaluate(condition, argument):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never true: {condition} with {argument}; the page: {page.inner_text('main')[:1500]}")
