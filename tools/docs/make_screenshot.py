#!/usr/bin/env python3
"""Photographs the live page of `oif serve` while one of the six pumps is broken.

    tools/docs/make_screenshot.py OIF PICTURE.png

OIF is the program. Needs Chromium (or $CHROMIUM) and playwright, which build/serve-venv has.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

ADDRESS = "127.0.0.1:18579"
SIZE = {"width": 1120, "height": 780}
LARGEST_BYTES = 150_000
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


def wait_for_fault(page):
    """An open episode, chosen, and some more rows of it to see."""
    expect(page.locator("#now-list button").first).to_be_visible(timeout=90000)
    page.click("#now-list button")
    page.wait_for_timeout(4000)


def photograph(picture, demo):
    sandbox = [] if os.geteuid() else ["--no-sandbox"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=sandbox)
        page = browser.new_context(viewport=SIZE, timezone_id="UTC", locale="en").new_page()
        page.goto(f"http://{ADDRESS}/")
        page.wait_for_selector("#now:not([data-state=wait])", state="attached")
        wait_for_fault(page)
        demo.send_signal(signal.SIGSTOP)  # no row arrives while the parts of the page are drawn: their figures agree
        page.wait_for_timeout(2500)
        page.screenshot(path=picture)
        browser.close()


def main(oif, picture):
    if not CHROMIUM:
        sys.exit("make_screenshot.py: Chromium is not installed; apt-get install chromium, or set CHROMIUM")
    demo = Path(__file__).resolve().parents[1] / "demo" / "demo_serve.py"
    server = subprocess.Popen([sys.executable, demo, oif, "--listen", ADDRESS, "--seconds", "120"],
                              stdout=subprocess.PIPE, text=True)
    try:
        for line in server.stdout:
            if re.search("Six pumps", line):
                break
        photograph(picture, server)
    finally:
        server.send_signal(signal.SIGCONT)
        server.terminate()
        server.wait()
    size = os.path.getsize(picture)
    print(f"{picture}: {size:,} bytes")
    if size > LARGEST_BYTES:
        sys.exit(f"make_screenshot.py: more than {LARGEST_BYTES:,} bytes; make SIZE smaller")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
