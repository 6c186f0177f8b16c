"""What the page shows is what `oif score` says about the same rows."""

import math
import random
import re
import time
import urllib.parse
from datetime import datetime, timezone
from decimal import ROUND_HALF_UP, Decimal

from page_rows import HEADER, START, pumps
from page_server import RECORD_TEXTS, oif_score, picture, wait_until

OPTIONS = ("--key", "pump", "--time", "time")
LASTING = (1, 1490, 2000)


def minute_text(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d %H:%M")


def short_number(value):
    """As the page rounds: 9.25 is 9.3."""
    text = str(Decimal(float(value)).quantize(Decimal("0.1"), ROUND_HALF_UP))
    return text[:-2] if text.endswith(".0") else text


def open_episodes(scored):
    """The sentences of the keys whose last row is in an episode, the worst first."""
    last = {row["pump"]: row for row in scored}
    rows = [row for row in last.values() if row["episode"] in ("begins", "lasts")]
    rows.sort(key=lambda row: -float(row["episode_peak"]))
    return [(row["pump"], "{} since {}, {} rows, severity {}".format(
        row["episode_why"], minute_text(float(row["episode_start"])), row["episode_rows"],
        short_number(row["episode_peak"]))) for row in rows]


def fill_pumps(server, text):
    server.create("pumps", key="pump", time="time")
    server.post("pumps", text)


def figure(page, name):
    return page.locator("#stream-figures div", has=page.get_by_text(name, exact=True)).locator("dd").inner_text()


def test_what_is_wrong_now_is_what_oif_score_says(server, open_page):
    text = pumps(fault=LASTING)
    expected = open_episodes(oif_score(text, *OPTIONS))
    assert expected, "the rows must end with an open episode"
    fill_pumps(server, text)
    page = open_page(server.url)
    shown = [(row.locator(".where").inner_text(), row.locator(".what").inner_text())
             for row in page.locator("#now-list li").all()]
    assert shown == expected
    peak = expected[0][1].rsplit(" ", 1)[1]
    assert page.locator("#key-list .figure").first.inner_text() == peak, "one severity everywhere: the peak"
    assert page.locator("#now-title").inner_text() == f"{len(expected)} open incident" + "s" * (len(expected) > 1)
    # The worst of them is chosen without a click.
    assert page.locator("#detail-title").inner_text() == f"pumps / {expected[0][0]}"
    wait_until(page, "text => document.getElementById('state').textContent === text", f"▲ {expected[0][1]}")
    because = page.locator("#column-charts .because").first.inner_text()
    assert because.startswith("▼ far from its level for ") and "of the reason" not in because, "it is all of it"
    picture(page, "wide", full_page=True)


def test_figures_and_scores_are_those_of_oif_score(server, open_page):
    text = pumps(fault=LASTING)
    scored = oif_score(text, *OPTIONS)
    fill_pumps(server, text)
    page = open_page(f"{server.url}/#stream=pumps&key=pump-1")
    page.wait_for_selector("#severity-chart[aria-label]")
    assert figure(page, "Rows") == f"{len(scored):,}"
    assert figure(page, "Anomalies") == f"{sum(row['anomaly'] == '1' for row in scored):,}"
    assert figure(page, "Episodes") == str(sum(row["episode"] == "begins" for row in scored))
    assert figure(page, "Keys") == "4"

    own = [(number, row) for number, row in enumerate(scored) if row["pump"] == "pump-1"]
    assert page.locator("#figures dd").first.inner_text() == f"{len(own):,}", "those of the key come first"
    page.locator("#table summary").click()
    page.wait_for_selector("#row-table td")
    cells = page.eval_on_selector_all("#row-table tbody tr", "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))")
    shown = [(row[2], row[3], row[4], float(row[5])) for row in cells]
    expected = [(short_number(row["severity"]), short_number(row["threshold"]), row["grade"],
                 float(f"{float(row['flow']):.4g}")) for _, row in own[:-51:-1]]
    assert shown == expected

    # The text that stands for the chart has the highest score of the rows that it shows.
    top = max(float(row["severity"]) for _, row in own[-500:])
    assert f"Highest {short_number(top)} at" in page.locator("#severity-chart").get_attribute("aria-label")


def test_the_reason_comes_first_and_the_bad_stretch_is_marked(server, open_page):
    far_in_all = f"{START + 60 * 1500},pump-1,52,6.4,70\n"  # a second row would be told as far from its level
    text = pumps() + far_in_all
    fill_pumps(server, text)
    why = [row for row in oif_score(text, *OPTIONS) if row["pump"] == "pump-1" and row["anomaly"] == "1"]
    worst = max((row for row in why if row["episode_id"] == why[-1]["episode_id"]), key=lambda row: float(row["severity"]))
    columns = [part.split(" ")[0] for part in worst["why"].split("; ")]
    assert len(columns) > 1, "the rows must end with a reason that columns share"
    page = open_page(f"{server.url}/#stream=pumps&key=pump-1")
    page.wait_for_selector("#column-charts h4")
    titles = page.locator("#column-charts h4").all_inner_texts()
    assert titles[:len(columns)] == columns
    assert sorted(titles) == ["flow", "pressure", "temperature"]
    marked = page.locator("#column-charts [data-reason=true] h4").all_inner_texts()
    assert marked == columns
    share = re.search(r"(\d+)%", worst["why"])[1]
    assert f"{share}% of the reason" in page.locator("#column-charts .because").first.inner_text()
    # What is still expected is written once.
    expected = [alert["reasons"][0]["expected"] for alert in server.ask("GET", "/api/v1/streams/pumps/alerts?key=pump-1")["alerts"]]
    words = "expected {} to {}".format(*(f"{end:.4g}" for end in expected[0]))
    assert page.locator("#column-charts figure").first.inner_text().count("expected ") == 1
    assert page.locator("#column-charts .expected").first.inner_text() == words
    page.evaluate("new Promise(requestAnimationFrame)")  # in which the charts are drawn
    assert shaded_columns(page, "#severity-chart") > 0
    assert shaded_columns(page, "#column-charts canvas") > 0


def shaded_columns(page, selector):
    """How many pixel columns have the bar of an episode at their top."""
    return page.eval_on_selector(selector, """canvas => {
        const pen = canvas.getContext("2d"), probe = document.body.appendChild(document.createElement("i"));
        probe.style.color = "var(--alarm)";
        const wanted = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
        const line = pen.getImageData(0, Math.round(5 * devicePixelRatio), canvas.width, 1).data;
        let found = 0;
        for (let i = 0; i < line.length; i += 4)
            found += wanted.every((value, c) => Math.abs(line[i + c] - value) < 3) && line[i + 3] > 250;
        return found;
    }""")


def band_lines(page, selector):
    """How many lines of pixels have more than a few dots of the band."""
    return page.eval_on_selector(selector, """canvas => {
        const pen = canvas.getContext("2d"), probe = document.body.appendChild(document.createElement("i"));
        probe.style.color = "var(--band)";
        const [r, g, b, alpha] = getComputedStyle(probe).color.match(/[\\d.]+/g).map(Number);
        const { data, width, height } = pen.getImageData(0, 0, canvas.width, canvas.height);
        const isBand = i => Math.abs(data[i + 3] - 255 * alpha) < 3 && [r, g, b].every((value, c) => Math.abs(data[i + c] - value) < 12);
        let found = 0;
        for (let y = 0; y < height; y++)
            found += [...Array(width).keys()].filter(x => isBand(4 * (y * width + x))).length > 0.1 * width;
        return found;
    }""")


def test_the_band_is_what_was_expected(server, open_page):
    fill_pumps(server, pumps(fault=LASTING))
    points = server.ask("GET", "/api/v1/streams/pumps/points?key=pump-1&limit=500&expected=true")
    page = open_page(f"{server.url}/#stream=pumps&key=pump-1")
    page.wait_for_selector("#column-charts h4")
    assert page.locator("#band-legend").is_visible()
    page.evaluate("new Promise(requestAnimationFrame)")
    titles = page.locator("#column-charts h4").all_inner_texts()
    for i in (-1, 100):
        if i >= 0:
            page.eval_on_selector("#cursor", "(slider, i) => { slider.value = i; slider.dispatchEvent(new Event('input')); }", i)
        for title, text in zip(titles, page.locator("#column-charts .expected").all_inner_texts()):
            low, high = re.fullmatch(r"expected (\S+) to (\S+)", text).groups()
            assert [float(low), float(high)] == [float(f"{end:.4g}") for end in points["expected"][title][i]]
    height = page.eval_on_selector("#column-charts canvas", "canvas => canvas.height")
    for place, title in enumerate(titles):
        assert 1 < band_lines(page, f"#column-charts figure:nth-child({place + 1}) canvas") < 0.9 * height, title
    assert band_lines(page, "#severity-chart") == 0
    label = page.locator("#column-charts canvas").first.get_attribute("aria-label")
    assert re.search(r"latest \S+, expected \S+ to \S+\.$", label), label


def test_neither_the_band_nor_far_values_hide_the_rest(server, open_page):
    page = open_page(server.url, wait="#now")
    ranges = page.evaluate("""async () => {
        const { rangeWithBand } = await import("/chart.js"), of = (value, count) => Array(count).fill(value);
        const usual = [...of(90, 200), ...of(140, 200)];
        return [
            rangeWithBand([...usual, 1e9], of([80, 150], 401)),
            rangeWithBand([...usual, ...of(1e6, 100)], of([80, 150], 500)),
            rangeWithBand(usual, of([-1e6, 1e6], 400)),
            rangeWithBand(usual, of([200, 210], 400)),
            rangeWithBand(usual, of([1e6, 2e6], 400)),
            rangeWithBand(of(5, 10), of([0, 10], 10)),
            rangeWithBand(usual, of(null, 400)),
            rangeWithBand(of(null, 3), of([1, 2], 3)),
        ];
    }""")
    assert ranges == [[80, 150 + 20 * 70], [80, 1e6], [70, 160], [90, 210], [90, 290], [0, 10], [90, 140], [0, 1]]


def test_quiet_says_since_when(server, open_page):
    text = pumps()
    scored = oif_score(text, *OPTIONS)
    assert not open_episodes(scored)
    fill_pumps(server, text)
    page = open_page(server.url)
    assert page.locator("#now-title").inner_text() == "All quiet"
    ended = [row for row in scored if row["episode"] == "ends"]
    if ended:
        wait_until(page, "document.getElementById('now-note').textContent.startsWith('since')")
        assert page.locator("#now-note").inner_text() == "since {}; the last episode: {} on {}".format(
            minute_text(float(ended[-1]["time"])), ended[-1]["episode_why"], ended[-1]["pump"])
    picture(page, "quiet")


def days(count=4, fault=2000, columns=1):
    """A row per minute; half an hour of them is far off."""
    noise, lines = random.Random(3), ["time,latency_ms" + "".join(f",c{i}" for i in range(1, columns)) + "\n"]
    for minute in range(1440 * count):
        value = 20 + 5 * math.sin(minute / 1440 * 2 * math.pi) + noise.gauss(0, 1) + (300 if fault <= minute < fault + 30 else 0)
        lines.append(f"{START + 60 * minute},{value:.2f}" + f",{minute % 7}" * (columns - 1) + "\n")
    return "".join(lines)


def drag(page, first, last):
    box = page.locator("#severity-chart").bounding_box()
    places = [box["x"] + 46 + share * (box["width"] - 54) for share in (first, (first + last) / 2, last)]
    page.mouse.move(places[0], box["y"] + 60)
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(place, box["y"] + 60)
    page.mouse.up()


def colour_of(page, name):
    return page.evaluate("""name => {
        const probe = document.body.appendChild(document.createElement("i"));
        probe.style.color = `var(${name})`;
        return getComputedStyle(probe).color;
    }""", name)


def badge_colour(page):
    return page.eval_on_selector('#episode-table [data-grade="critical"]', "badge => getComputedStyle(badge).color")


def wait_note(page, text):
    wait_until(page, "text => document.getElementById('range-note').textContent === text", text)


def test_days_are_zoomed_by_a_drag_and_a_link_shows_the_same(server, open_page):
    server.create("web", time="time")
    server.post("web", days())
    [episode] = [one for one in server.ask("GET", "/api/v1/streams/web/episodes")["episodes"] if one["grade"] == "critical"]
    assert not episode["open"] and START + 60 * 2000 <= episode["began"] < START + 60 * 2030
    assert episode["column"] == "latency_ms" and episode["reason"].startswith("latency_ms "), episode
    page = open_page(f"{server.url}/#stream=web&range=7d")
    wait_note(page, "2025-12-28 23:30 – 2026-01-05 00:00, a point per 30 min")
    assert "points up to" in page.locator("#severity-chart").get_attribute("aria-label")
    page.evaluate("new Promise(requestAnimationFrame)")
    assert shaded_columns(page, "#severity-chart") == 0, "an episode that is over is not red"
    assert badge_colour(page) == colour_of(page, "--dim")
    drag(page, 0.5, 0.75)
    wait_until(page, "document.getElementById('range-note').textContent.includes('a point per 5 min')")
    wanted = urllib.parse.parse_qs(page.url.split("#")[1])
    ends = [datetime.fromisoformat(wanted[name][0]).timestamp() for name in ("from", "to")]
    assert abs(ends[1] - ends[0] - 7 * 86400 / 4) < 7200 and abs(ends[0] - (START + 43200)) < 7200
    page.click("#later")
    moved = urllib.parse.parse_qs(page.url.split("#")[1])["from"][0]
    assert abs(datetime.fromisoformat(moved).timestamp() - sum(ends) / 2) < 3, "by half of the range"
    middle = sum(ends) / 2
    wait_until(page, "text => document.getElementById('range-note').textContent.startsWith(text)", minute_text(middle)[:-1])
    page.evaluate("['earlier', 'zoom-in'].forEach(id => document.getElementById(id).click())")  # the second does not wait for the rows of the first
    wait_until(page, "text => document.getElementById('range-note').textContent.startsWith(text)", minute_text(middle - (ends[1] - ends[0]) / 4)[:-1])
    for _ in range(4):
        page.go_back()
    wait_note(page, "2025-12-28 23:30 – 2026-01-05 00:00, a point per 30 min")
    # An episode that is not on the chart moves it there.
    page.select_option("#limit", "500")
    wait_until(page, "document.getElementById('range-note').textContent.startsWith('2026-01-04 15:4')")
    page.get_by_role("button", name=episode["reason"]).last.click()
    wait_until(page, "document.getElementById('limit').value === 'fixed'")
    wait_until(page, "document.getElementById('range-note').textContent.startsWith('2026-01-02 0')")
    page.evaluate("new Promise(requestAnimationFrame)")
    assert shaded_columns(page, "#severity-chart") > 0, "the chosen one is red"
    assert badge_colour(page) == colour_of(page, "--alarm")
    box = page.locator("#severity-chart").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 60)
    wait_until(page, "location.hash.includes('at=')")
    page.mouse.move(5, 5)
    read = page.locator("#readout").inner_text()
    title = f"{episode['reason']}, {minute_text(episode['began'])} – {minute_text(episode['ended'])[11:]}"
    assert page.locator("#episode-title").inner_text() == title
    assert not read.startswith("latest") and f"episode={episode['number']}" in page.url
    page.click("#zone")
    other = open_page(page.url, timezone_id="Asia/Kolkata")
    wait_until(other, "text => document.getElementById('readout').textContent === text", read)
    assert other.locator("#range-note").inner_text() == page.locator("#range-note").inner_text()
    assert other.locator(".value").first.inner_text().endswith(" ms"), "the name of the column says its unit"
    other.click("#latest")
    wait_until(other, "document.getElementById('limit').value === '500' && document.getElementById('readout').textContent.startsWith('latest')")
    # A link to what is gone does not show another stream.
    server.create("second", time="time")
    gone = open_page(f"{server.url}/#stream=gone&key=a", wait="#missing:not([hidden])")
    assert gone.locator("#missing").inner_text().startswith("There is no stream “gone”.")
    assert gone.locator("#detail").is_hidden() and gone.locator("#stream-list li").count() == 2


def test_the_headline_is_green_for_a_reason_only(server, open_page):
    server.create("young", time="time")
    server.post("young", "time,x\n" + "".join(f"{START + i},{i % 7}\n" for i in range(40)))
    page = open_page(server.url)
    assert page.locator("#now-title").inner_text() == "Learning"
    assert re.match(r"40 of about \d+ rows", page.locator("#now-note").inner_text())
    assert page.locator("#now").get_attribute("data-state") == "unsure"
    page.wait_for_selector("#severity-chart[aria-label]")
    assert re.match(r"◌ Learning: 40 of about \d+ rows", page.locator("#state").inner_text())
    server.create("a-wide", time="time")
    server.post("a-wide", days(1, fault=9999, columns=40))
    wait_until(page, "document.getElementById('now-title').textContent === 'No alert, but young still learns'")
    for i in range(8):
        server.create(f"empty-{i}")
    wait_until(page, "document.getElementById('now-title').textContent === 'No data from 8 streams'")
    names = page.locator("#stream-list .name").all_inner_texts()
    assert names == [f"empty-{i}" for i in range(8)] + ["young", "a-wide"], "the worst first"
    assert page.locator("#stream-list .figure").all_inner_texts()[-3:-1][0] == "◌ no rows yet"
    page.fill("#stream-find", "zzz")
    assert page.locator("#stream-more").inner_text() == "No stream has “zzz” in its name."
    page.fill("#stream-find", "a-wi")
    page.click("#stream-list button")
    page.wait_for_selector("#column-find:not([hidden])")
    assert page.locator("#column-charts figure").count() == 12
    page.fill("#column-find", "c39")
    assert page.locator("#column-charts h4").all_inner_texts() == ["c39"]
    page.fill("#column-find", "zzz")
    assert page.locator("#column-none").inner_text() == "No column has “zzz” in its name."
    page.fill("#stream-find", "")
    for i in range(8, 60):
        server.create(f"empty-{i}")
    wait_until(page, "document.getElementById('stream-more').textContent === 'the worst 50 of 62 are shown'")
    assert page.locator("#stream-list li").count() == 50


def racks(first, count, breaks_at, names=("rack-1",)):
    """temp_c follows load, except from one row on."""
    noise, load, lines = random.Random(4), 0, ["time,rack,load,temp_c [°C]\n"]
    for i in range(first + count):
        load = 0.95 * load + noise.gauss(0, 1)
        temp = (2 if i < breaks_at else -2) * load + noise.gauss(0, 0.05)
        if i >= first:
            lines += [f"{START + 60 * i},{name},{50 + load:.3f},{100 + temp:.3f}\n" for name in names]
    return "".join(lines)


REASON = "load no longer follows temp_c [°C]"


def test_an_incident_of_two_keys_names_both_columns(server, open_page):
    server.create("racks", key="rack", time="time")
    server.post("racks", racks(0, 3030, 3000, names=("rack-1", "rack-2")))
    page = open_page(server.url)
    wait_until(page, "text => document.querySelector('#now-list strong')?.textContent === text", REASON)
    wait_until(page, "text => document.getElementById('state').textContent.startsWith(text)", f"▲ {REASON} since")
    assert re.fullmatch(r".* and 1 more since \S+ \S+, severity \S+", page.locator("#now-list .what").inner_text().split(";")[0])


def test_an_episode_recovers_and_a_damaged_stream_says_so(server, open_page):
    server.create("rack-1", key="rack", time="time")
    server.post("rack-1", racks(0, 3030, breaks_at=3000))
    page = open_page(server.url, expect_errors=True)
    page.add_init_script(RECORD_TEXTS)
    page.reload()
    wait_until(page, "text => document.getElementById('state').textContent.startsWith(text)", f"▲ {REASON} since")
    assert page.locator("#episode-title").inner_text().startswith(f"{REASON}, open since 2026-")
    wait_until(page, "window.drawn.filter(one => one.isNumber && / °C$/.test(one.text)).length > 1")
    server.post("rack-1", racks(3030, 13, breaks_at=9999))
    page.goto(f"{server.url}/#stream=rack-1")
    wait_until(page, "document.getElementById('state').textContent.endsWith(', recovering')")
    wait_until(page, "[...document.querySelectorAll('#stream-list .figure')].some(one => one.textContent === '▲ 1 open, recovering')")
    assert page.locator("#now").get_attribute("data-state") == "wrong"
    server.stop()
    (server.folder / "data/streams/rack-1/state").write_bytes(b"not a snapshot")
    server.start()
    wait_until(page, "document.getElementById('state').textContent.startsWith('✕ Damaged: ')")
    assert page.locator("#state").get_attribute("data-state") == "wrong"
    assert "Restore a backup of it, or delete the stream" in page.locator("#state").inner_text()
    for part in ("#stream-figures", "#range", "#banner"):
        assert page.locator(part).is_hidden(), f"{part}: 0 rows would be untrue, and the reason is said once"
    wait_until(page, "document.querySelector('#stream-list .figure').textContent === '✕ damaged'")
    assert page.locator("#stream-list .below").first.inner_text() == ""
    assert page.locator("#now-title").inner_text() == "rack-1 is damaged", "whether its episode lasts is not known"
    server.create("rack-2", key="rack", time="time")
    server.post("rack-2", racks(0, 3030, breaks_at=3000, names=("rack-2",)))
    wait_until(page, "document.getElementById('now-note').textContent.endsWith('; 1 stream damaged')")


def test_a_slow_sender_is_shown_by_its_last_row(server, open_page):
    server.create("slow", time="time")
    server.post("slow", f"time,x\n{START},1\n{START + 60},2\n")
    page = open_page(server.url)
    below = page.locator("#stream-list .below")
    assert re.fullmatch(r"2 rows, 0\.[12]/s", below.inner_text())
    wait_note(page, "2026-01-01 00:00 – 00:01")
    wait_until(page, "document.querySelector('#stream-list .below').textContent.startsWith('2 rows, last ')")
    at = server.ask("GET", "/api/v1/streams/slow")["last_row_at"]
    assert below.inner_text() == f"2 rows, last {datetime.fromtimestamp(at, timezone.utc):%H:%M}", "a rate falls without an event"


def test_times_are_local_or_utc(server, open_page):
    fill_pumps(server, pumps(fault=LASTING))
    page = open_page(server.url, timezone_id="Asia/Kolkata")
    utc, local = minute_text(START + 60 * 1490), minute_text(START + 60 * 1490 + 19800)
    assert local in page.locator("#now-list").inner_text()
    assert page.locator("#zone").inner_text() == "Times: local"
    page.click("#zone")
    assert page.locator("#zone").inner_text() == "Times: UTC", "the button says what it changes"
    assert utc in page.locator("#now-list").inner_text()
    page.reload()
    page.wait_for_selector("#now-list li")
    assert utc in page.locator("#now-list").inner_text(), "the page remembers it"


def test_a_stream_without_key_and_time_has_rows(server, open_page):
    text = re.sub(r"(?m)^[^,]*,[^,]*,", "", pumps(400))
    scored = oif_score(text)
    server.create("plain")
    server.post("plain", text)
    page = open_page(server.url)
    page.wait_for_selector("#severity-chart[aria-label]")
    assert page.locator("#keys").is_hidden()
    top = max(float(row["severity"]) for row in scored[-500:])
    label = page.locator("#severity-chart").get_attribute("aria-label")
    assert f"Highest {short_number(top)} at row" in label


def test_a_key_that_falls_silent_is_shown_although_no_row_comes(server, open_page):
    server.create("quiet", key="host", time="at", silence="4s")
    now = int(time.time())
    page = open_page(server.url)
    page.wait_for_selector("#link[data-state=live]")
    server.post("quiet", "at,host,load\n" + "".join(f"{now - 60 + i},web-1,{i % 7}\n" for i in range(60)))
    page.wait_for_selector("#key-list li")
    wait_until(page, "document.getElementById('key-list').textContent.includes('silent since')")
    wait_until(page, "document.querySelector('#stream-list .figure').textContent.startsWith('◌ no data since ')")
    assert page.locator("#now").get_attribute("data-state") != "quiet"
    wait_until(page, "document.getElementById('state').textContent.startsWith('◌ No data since ')")


def test_a_key_that_is_too_long_for_a_query_is_shown(server, open_page):
    key = "é" * 30000
    server.create("long", key="host")
    server.post("long", "host,load\n" + "".join(f"{key},{i % 7}\n" for i in range(40)))
    page = open_page(server.url)
    page.wait_for_selector("#severity-chart[aria-label]")
    assert page.locator("#detail-error").is_hidden()


def test_live_rows_appear_and_new_episodes_are_announced(server, open_page):
    fill_pumps(server, pumps())
    page = open_page(server.url)
    page.wait_for_selector("#link[data-state=live]")
    page.wait_for_selector("#severity-chart[aria-label]")
    before = figure(page, "Rows")
    more = pumps(20, first_minute=1500, fault=(3, 1505, 1600))
    server.post("pumps", more)
    expected = open_episodes(oif_score(pumps() + more.removeprefix(HEADER), *OPTIONS))
    page.wait_for_selector("#now[data-state=wrong]")
    wait_until(page, "text => document.querySelector('#now-list .what')?.textContent === text", expected[0][1])
    assert figure(page, "Rows") != before
    announced = page.locator("#announce").inner_text()
    assert announced.startswith("New episode: ") and announced.endswith(", on pump-3"), announced
    assert page.title().startswith("(1) oif: ")
    # The chart of a key that is shown follows as well.
    page.click("#now-list button")
    wait_until(page, "document.getElementById('readout').textContent.includes('01:19:00')")
