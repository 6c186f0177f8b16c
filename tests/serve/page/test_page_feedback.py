"""What people say about an episode, by clicks: a rule is proposed, added and removed."""

import pytest
from page_rows import pumps
from page_server import check_every_screen, wait_until

LASTING = (1, 1490, 2000)


@pytest.fixture
def filled(server):
    server.create("pumps", key="pump", time="time")
    server.post("pumps", pumps(fault=LASTING))
    return server


def open_ready(open_page, server, **options):
    page = open_page(server.url, **options)
    page.wait_for_selector("#severity-chart[aria-label]")
    page.wait_for_selector("#propose:visible")
    return page


def test_a_useless_alert_becomes_a_rule_by_two_clicks(filled, open_page):
    page = open_ready(open_page, filled)
    assert page.locator("#proposal").is_hidden() and page.locator("#rules").is_hidden()
    page.click("#propose")
    page.wait_for_selector("#proposal:visible")
    rule = page.locator("#proposal-rule").inner_text()
    assert rule.startswith("mute column=") and rule.endswith(" key=pump-1")
    check_every_screen(page, "feedback")
    page.click("#mute")
    page.wait_for_selector("#rules:visible")
    wait_until(page, "document.getElementById('proposal').hidden")
    page.click("#rules summary")
    assert page.locator("#rule-list code").inner_text() == rule
    assert "held back 0 rows" in page.locator("#rule-list li").inner_text()
    check_every_screen(page, "rules")
    page.click("#rule-list button")
    wait_until(page, "document.getElementById('rules').hidden")
    assert filled.ask("GET", "/api/v1/streams/pumps")["rules"] == []


def test_an_episode_of_a_stopped_source_says_so(filled, open_page):
    filled.ask("PATCH", "/api/v1/streams/pumps", b'{"end_after": "1s"}')
    page = open_ready(open_page, filled)
    page.wait_for_selector("#episode-silent:visible")
    assert page.locator("#state").inner_text().startswith("◌ No rows since ")


def test_a_reader_sees_the_episode_but_no_buttons(start_server, open_page, tmp_path):
    (tmp_path / "write").write_text("write-token-0123456789\n")
    (tmp_path / "read").write_text("read-token-0123456789\n")
    server = start_server("--token-file", str(tmp_path / "write"), "--read-token-file", str(tmp_path / "read"))
    token, stream = "write-token-0123456789", "/api/v1/streams/pumps"
    server.ask("PUT", stream, b'{"key": "pump", "time": "time", "mute": "column=flow change<1%"}', token=token)
    server.ask("POST", stream + "/rows?answer=count", pumps(fault=LASTING).encode(), "text/csv", token=token)
    page = open_page(server.url, http_credentials={"username": "oif", "password": "read-token-0123456789"})
    page.wait_for_selector("#episode-title:visible")
    for part in ("#episode-tools", "#proposal", "#rule-list button"):
        assert page.locator(part).is_hidden(), part
    assert page.locator("#rules").is_visible()


def test_a_failure_is_said_where_the_button_is(filled, open_page):
    page = open_ready(open_page, filled, expect_errors=True)
    page.route("**/proposal?*", lambda route: route.fulfill(status=507, json={"error": {"message": "the disk is full", "remedy": "make room"}}))
    page.click("#propose")
    page.wait_for_selector("#episode-error:visible")
    assert page.locator("#episode-error").inner_text() == "the disk is full. make room"
    assert page.locator("#propose").is_enabled()
