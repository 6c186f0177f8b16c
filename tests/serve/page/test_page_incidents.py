"""Incidents on the page: none, one and thirty, on a phone and on a desktop, light and dark."""

import random

import pytest
from axe_playwright_python.sync_playwright import Axe
from page_rows import START
from page_server import picture, wait_until

HOSTS = [f"rack-{1 + i // 4}/host-{i}" for i in range(12)]
LEARNED = 600


def rows(minutes, first=0, bad=None):
    """A row per host and minute; bad: {host: its first bad minute}."""
    noise = random.Random(first)
    lines = ["time,host,load,temp\n"]
    for minute in range(first, first + minutes):
        for host in HOSTS:
            load = noise.uniform(0.9, 1.1) + (60 if bad and bad.get(host, 1e9) <= minute else 0)
            lines.append(f"{START + 60 * minute},{host},{load:.3f},{noise.uniform(19, 21):.3f}\n")
    return "".join(lines)


@pytest.fixture
def fleet(server):
    server.create("fleet", key="host", time="time", **{"alert-rate": 0.0001, "calm": 4})
    server.post("fleet", rows(LEARNED))
    return server


def break_rack(server, minute=LEARNED):
    server.post("fleet", rows(10, minute, {HOSTS[0]: minute + 1, HOSTS[1]: minute + 2, HOSTS[2]: minute + 3}))


def open_ready(open_page, server, **options):
    page = open_page(server.url, **options)
    page.wait_for_selector("#link[data-state=live]")
    return page


def axe_finds(page):
    return [(one["id"], one["nodes"][0]["html"][:200]) for one in Axe().run(page).response["violations"]]


def test_an_incident_opens_its_members_in_the_order_of_their_begins(fleet, open_page):
    break_rack(fleet)
    page = open_ready(open_page, fleet)
    assert page.locator("#now-title").inner_text() == "1 open incident"
    assert page.locator("#now-note").inner_text() == "3 open episodes, worst first"
    row = page.locator("#now-list > li > button")
    assert row.locator(".what").inner_text().startswith("load high and 2 more since ")
    assert row.locator(".where").inner_text() == f"first {HOSTS[0]}"
    assert row.get_attribute("aria-expanded") == "false"
    row.click()
    assert row.get_attribute("aria-expanded") == "true"
    worst = fleet.ask("GET", "/api/v1/now")["episodes"][0]["key"]
    wait_until(page, "text => document.getElementById('detail-title').textContent === text", f"fleet / {worst}")
    members = page.locator("#now-list .members .what strong")
    assert members.all_inner_texts() == HOSTS[:3]
    assert page.locator("#now-list .members .where").first.inner_text().endswith("– open")
    members.nth(1).click()
    wait_until(page, "text => document.getElementById('detail-title').textContent === text", f"fleet / {HOSTS[1]}")
    assert page.locator("#now-list .members [aria-current=true]").inner_text().count(HOSTS[1]) == 1
    assert page.locator("#now-list .members li").count() == 3, "it stays open"


def test_an_incident_that_ends_moves_below(fleet, open_page):
    page = open_ready(open_page, fleet)
    assert page.locator("#now-title").inner_text() == "All quiet" and page.locator("#ended").is_hidden()
    break_rack(fleet)
    page.wait_for_selector("#now[data-state=wrong]")
    fleet.post("fleet", rows(30, LEARNED + 10))
    page.wait_for_selector("#now[data-state=quiet]")
    wait_until(page, "document.getElementById('ended-title').textContent === '1 ended incident'")
    page.click("#ended-title")
    assert page.locator("#ended-list .what").inner_text().startswith("load high and 2 more, ")
    page.click("#ended-list button")
    wait_until(page, "text => document.getElementById('detail-title').textContent === text", f"fleet / {HOSTS[0]}")


@pytest.mark.parametrize(("width", "theme"), [(360, "dark"), (1280, "light")])
@pytest.mark.parametrize("count", [0, 1, 30])
def test_none_one_and_thirty_fit_the_screen_and_are_accessible(fleet, open_page, count, width, theme):
    if count == 1:
        break_rack(fleet)
    for i in range(count if count > 1 else 0):  # each alone, hours apart, in streams of their own
        fleet.create(f"s{i}", key="host", time="time", **{"alert-rate": 0.0001})
        first = LEARNED + 300 * i
        lines = [line for line in rows(LEARNED, first).splitlines(True) if line.startswith("time") or f",{HOSTS[0]}," in line]
        bad = [line for line in rows(3, first + LEARNED, {HOSTS[0]: 0}).splitlines(True) if f",{HOSTS[0]}," in line]
        fleet.post(f"s{i}", "".join(lines + bad))
    page = open_ready(open_page, fleet, width=width, height=800, color_scheme=theme)
    if count == 1:
        page.click("#now-list button")
    assert page.locator("#now-list > li").count() == count
    assert page.evaluate("document.documentElement.scrollWidth") == width
    picture(page, f"incidents-{count}-{width}-{theme}")
    assert axe_finds(page) == []
