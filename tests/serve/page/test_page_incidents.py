"""Incidents on the page: none, one and thirty, on every width and theme."""

import random
import re
import time

import pytest
from page_rows import START
from page_server import check_every_screen, wait_until

HOSTS = [f"rack-{1 + i // 4}/host-{i}" for i in range(12)]
LEARNED = 200
BROKEN = 5  # rows of a break
CALM = 60  # after which all episodes have ended


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
    server.create("fleet", key="host", time="time", **{"alert-rate": 0.0001})
    server.post("fleet", rows(LEARNED))
    return server


def break_rack(server, minute=LEARNED):
    server.post("fleet", rows(BROKEN, minute, {HOSTS[0]: minute + 1, HOSTS[1]: minute + 2, HOSTS[2]: minute + 3}))


def open_ready(open_page, server, **options):
    page = open_page(server.url, **options)
    page.wait_for_selector("#link[data-state=live]")
    return page


def test_an_incident_opens_its_members_in_the_order_of_their_begins(fleet, open_page):
    break_rack(fleet)
    page = open_ready(open_page, fleet)
    assert page.locator("#now-title").inner_text() == "1 open incident"
    assert page.locator("#now-note").inner_text() == "3 open episodes, worst first"
    row = page.locator("#now-list > li > button")
    incident = fleet.ask("GET", "/api/v1/incidents")["incidents"][0]
    assert re.match(r"load jumps up by \S+, usually at most \S+$", incident["reason"])
    assert row.locator(".what").inner_text().startswith(f"{incident['reason']} and 2 more since ")
    assert row.locator(".where").inner_text() == incident["worst"]["key"]
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
    fleet.post("fleet", rows(CALM, LEARNED + BROKEN, {HOSTS[1]: 0, HOSTS[2]: 0}))
    wait_until(page, "[...document.querySelectorAll('#now-list .members li')].map(one => one.dataset.past).join() === 'false,false,true'")
    assert members.all_inner_texts() == [HOSTS[1], HOSTS[2], HOSTS[0]], "those that are open come first"
    colours = page.eval_on_selector_all("#now-list .members .badge", "badges => badges.map(badge => getComputedStyle(badge).color)")
    assert colours[0] == colours[1] != colours[2], "red only while open"


def test_a_member_has_the_grade_of_its_record(fleet, open_page):
    break_rack(fleet)
    page = open_page(fleet.url)

    def grade(route):
        answer = route.fetch().json()
        for member, (peak, grade) in zip(answer["incidents"][0]["order"], ((2.9, "note"), (3.3, "warning"), (4, "critical"))):
            member.update(peak=peak, grade=grade)
        route.fulfill(json=answer)

    page.route("**/api/v1/incidents*", grade)
    page.reload()
    page.wait_for_selector("#link[data-state=live]")
    page.locator("#now-list > li > button").click()
    badges = page.locator("#now-list .members .badge")
    assert [re.sub(r"\W", "", text) for text in badges.all_inner_texts()] == ["note", "warning", "critical"]


def test_an_incident_that_ends_moves_below(fleet, open_page):
    page = open_ready(open_page, fleet)
    assert page.locator("#now-title").inner_text() == "All quiet" and page.locator("#ended").is_hidden()
    break_rack(fleet)
    page.wait_for_selector("#now[data-state=wrong]")
    fleet.post("fleet", rows(CALM, LEARNED + BROKEN))
    page.wait_for_selector("#now[data-state=quiet]")
    wait_until(page, "document.getElementById('ended-title').textContent === '1 ended incident'")
    page.click("#ended-title")
    incident = fleet.ask("GET", "/api/v1/incidents")["incidents"][0]
    assert incident["reason"].startswith("load ")
    assert page.locator("#ended-list .what").inner_text().startswith(f"{incident['reason']} and 2 more, ")
    page.click("#ended-list button")
    worst = incident["worst"]["key"]
    wait_until(page, "text => document.getElementById('detail-title').textContent === text", f"fleet / {worst}")


def test_the_page_counts_what_the_server_counts(fleet, open_page):
    break_rack(fleet)
    fleet.create("other", key="host", time="time", **{"alert-rate": 0.0001})
    fleet.post("other", rows(LEARNED) + "".join(rows(10, LEARNED, {HOSTS[5]: 0}).splitlines(True)[1:]))
    fleet.post("fleet", rows(1, LEARNED + BROKEN, {HOSTS[0]: 0}))
    page = open_ready(open_page, fleet)
    assert fleet.ask("GET", "/api/v1/now")["incidents"] == 2
    assert page.locator("#now-title").inner_text() == "2 open incidents" and page.locator("#now-list > li").count() == 2
    fleet.post("fleet", rows(CALM, LEARNED + BROKEN + 1))
    wait_until(page, "document.getElementById('now-title').textContent === '1 open incident'")
    assert fleet.ask("GET", "/api/v1/now")["incidents"] == 1
    assert page.locator("#ended-title").inner_text() == "1 ended incident"


def test_a_stream_without_data_is_a_line_that_leads_to_it(server, open_page):
    server.create("dead", key="host", time="time", silence="4s")
    server.create("fine", time="time")
    server.post("fine", "time,x\n" + "".join(f"{START + i},{i % 7}\n" for i in range(40)))
    now = int(time.time())
    lines = [f"{now - 60 + i},web-1,{i % 7}\n" for i in range(60)]
    server.post("dead", "time,host,load\n" + "".join(lines))
    page = open_ready(open_page, server)
    row = page.locator("#now-list > li > button", has_text="no data")
    row.wait_for()
    assert row.get_attribute("aria-expanded") is None and row.locator(".where").inner_text() == "dead"
    row.click()
    wait_until(page, "document.getElementById('detail-title').textContent === 'dead / web-1'")


@pytest.mark.parametrize("count", [0, 1, 30])
def test_none_one_and_thirty_fit_the_screen_and_are_accessible(fleet, open_page, count):
    if count == 1:
        break_rack(fleet)
    for i in range(count if count > 1 else 0):  # each alone, hours apart, in streams of their own
        fleet.create(f"s{i}", key="host", time="time", **{"alert-rate": 0.0001})
        first = LEARNED + 300 * i
        lines = [line for line in rows(LEARNED, first).splitlines(True) if line.startswith("time") or f",{HOSTS[0]}," in line]
        bad = [line for line in rows(3, first + LEARNED, {HOSTS[0]: 0}).splitlines(True) if f",{HOSTS[0]}," in line]
        fleet.post(f"s{i}", "".join(lines + bad))
    page = open_ready(open_page, fleet)
    if count == 1:
        page.click("#now-list button")
    assert page.locator("#now-list > li").count() == count
    check_every_screen(page, f"incidents-{count}")
