"""A real `oif serve` and a real Chromium, for the tests of the live page and of the report of `oif eval`.

    tests/serve/run.sh tests/serve/page

OIF names the program (build/release-gcc/oif if not set), CHROMIUM the browser. Screenshots go to
build/page/; look at them.
"""

import os
import re
import shutil

import pytest
from page_server import Server
from playwright.sync_api import sync_playwright

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture
def start_server(tmp_path):
    started = []

    def start(*options):
        folder = tmp_path / f"server-{len(started)}"
        folder.mkdir()
        started.append(Server(folder, *options))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.stop()


@pytest.fixture
def server(start_server):
    return start_server()


@pytest.fixture(scope="session")
def chromium():
    if not CHROMIUM:
        pytest.skip("chromium is not installed")
    sandbox = [] if os.geteuid() else ["--no-sandbox"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=sandbox, timeout=300_000)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium):
    """open_page(url, width=..., ...): a page; a test fails if a script does, or if anything is asked of another host."""
    contexts, complaints = [], []

    def open_one(url, width=1280, height=900, wait="#now:not([data-state=wait])", expect_errors=False, **options):
        context = chromium.new_context(viewport={"width": width, "height": height},
                                       **{"timezone_id": "UTC", "locale": "en", **options})
        contexts.append(context)
        page = context.new_page()
        origin = re.match(r"https?://[^/]+|file:.*", re.sub("//[^/@]*@", "//", url))[0]
        page.set_default_timeout(120_000)  # if several tests wait for what never comes, ctest must not end all without a report
        page.on("pageerror", lambda error: complaints.append(f"script: {error}"))
        page.on("dialog", lambda dialog: (complaints.append("a dialog of the browser"), dialog.dismiss()))
        page.on("request", lambda request: re.sub("//[^/@]*@", "//", request.url).startswith(origin) or request.url.startswith("data:") or
                complaints.append(f"asked of another host: {request.url[:200]}"))
        if not expect_errors:
            page.on("console", lambda line: line.type == "error" and complaints.append(f"console: {line.text}"))
        page.goto(url)
        if wait:
            page.wait_for_selector(wait, state="attached")
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not complaints, "\n".join(complaints)
