"""The page by keyboard, on a phone, in the dark, with a screen reader, with many keys and with hostile names."""

import json
import re
import signal
import urllib.parse

import pytest
from page_rows import START, fleet, pumps
from page_server import check_every_screen, picture, wait_until

LASTING = (1, 1490, 2000)


@pytest.fixture
def filled(server):
    server.create("pumps", key="pump", time="time")
    server.post("pumps", pumps(fault=LASTING))
    server.create("boiler", time="time", exclude="pump")
    server.post("boiler", pumps(300, seed=8))
    return server


def open_ready(open_page, server, **options):
    page = open_page(server.url, **options)
    page.wait_for_selector("#severity-chart[aria-label]")
    page.wait_for_selector("#link[data-state=live]")
    return page


# ---- Layouts ----


@pytest.mark.parametrize("width", [320, 360, 768])
def test_narrow_screens_do_not_scroll_sideways(filled, open_page, width):
    page = open_ready(open_page, filled, width=width, height=740, device_scale_factor=2, has_touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    if width == 360:
        picture(page, "phone", full_page=True)
        tops = page.evaluate("['#detail', '.side', '#severity-chart', '#now'].map(one => document.querySelector(one).getBoundingClientRect().top)")
        assert tops[0] < tops[1], "what is wrong comes before the lists"
        assert tops[3] < 60 and tops[2] < 670, "the incident and the chart of its score are on the first screen, also if the reason is longer"
        page.tap("#now-list button")
        wait_until(page, "document.getElementById('detail').getBoundingClientRect().top < 200")


def test_a_phone_gets_the_columns_of_the_reason_and_few_others(server, open_page):
    names = ",".join(f"c{i}" for i in range(9))
    rows = [f"{START + i}," + ",".join(str((i * (7 + c)) % (11 + c)) for c in range(9)) for i in range(60)]
    server.create("wide", time="time")
    server.post("wide", f"time,{names}\n" + "\n".join(rows) + "\n")
    page = open_ready(open_page, server, width=390, height=844)
    assert page.locator("#column-charts figure").count() == 4
    assert page.locator("#columns-more").inner_text() == "Show 5 more of 9 columns"
    page.click("#columns-more")
    assert page.locator("#column-charts figure").count() == 9
    wide = open_ready(open_page, server, width=1440)
    assert wide.locator("#column-charts figure").count() == 9 and wide.locator("#columns-more").is_hidden()


def test_long_names_of_streams_can_be_told_apart(server, open_page):
    for name in ("a" * 60 + "-one", "a" * 60 + "-two"):
        server.create(name)
    page = open_page(server.url, width=1280)
    cut = page.eval_on_selector_all("#stream-list .name", "names => names.map(name => name.scrollWidth > name.clientWidth || getComputedStyle(name).textOverflow === 'ellipsis')")
    assert cut == [False, False]


def test_dark_by_the_system_and_by_the_switch(filled, open_page):
    page = open_ready(open_page, filled, color_scheme="dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    picture(page, "dark", full_page=True)
    line = ink_of_chart(page)
    page.keyboard.press("d")
    assert page.locator("#theme").inner_text() == "Colours: light"
    assert page.evaluate(background) != dark
    wait_until(page, "dark => getComputedStyle(document.body).backgroundColor !== dark", dark)
    page.evaluate("new Promise(requestAnimationFrame)")
    assert ink_of_chart(page) != line, "charts change their colours too"
    page.keyboard.press("d")
    assert page.evaluate(background) == dark


def ink_of_chart(page):
    return page.eval_on_selector("#severity-chart", """canvas => {
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data, counts = {};
        for (let i = 0; i < data.length; i += 4)
            if (data[i + 3] === 255) {
                const name = data.slice(i, i + 3).join();
                counts[name] = (counts[name] ?? 0) + 1;
            }
        return Object.entries(counts).sort((a, b) => b[1] - a[1])[0][0];
    }""")


# ---- Keyboard and screen readers ----


def test_every_control_is_reached_by_tab_in_order_with_a_visible_focus(filled, open_page):
    page = open_ready(open_page, filled)
    page.evaluate("document.activeElement.blur()")
    seen, places = [], []
    for _ in range(80):
        page.keyboard.press("Tab")
        found = page.evaluate("""() => {
            const at = document.activeElement, style = getComputedStyle(at), box = at.getBoundingClientRect();
            if (at === document.body)
                return null;
            return { name: at.id || at.textContent.trim().slice(0, 40), outline: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2,
                     visible: box.width > 0 && box.height > 0, top: box.top + scrollY, left: box.left };
        }""")
        if found is None:
            break
        assert found["outline"], f"{found['name']} shows no focus"
        assert found["visible"], f"{found['name']} has the focus and is not visible"
        seen.append(found["name"])
        places.append(found)
    for name in ("add", "zone", "theme", "help-open", "key-find", "key-order", "limit", "cursor"):
        assert name in seen, f"{name} is not reached by Tab"
    order = ["add", "help-open", "key-find", "limit", "cursor"]
    assert sorted(order, key=seen.index) == order


def test_shortcuts(filled, open_page):
    page = open_ready(open_page, filled)
    title = page.locator("#detail-title")
    first = title.inner_text()
    page.keyboard.press("j")
    wait_until(page, "first => document.getElementById('detail-title').textContent !== first", first)
    page.keyboard.press("n")
    wait_until(page, "first => document.getElementById('detail-title').textContent === first", first)
    page.keyboard.press("s")
    wait_until(page, "first => document.getElementById('detail-title').textContent !== first", first)
    page.keyboard.press("s")
    wait_until(page, "document.getElementById('detail-title').textContent.startsWith('pumps')")
    page.wait_for_selector("#cursor")
    page.keyboard.press("/")
    page.keyboard.type("n3")
    assert page.locator("#key-find").input_value() == "n3", "a letter that is typed is no shortcut"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    assert set(page.locator("#help p b").all_inner_texts()) == {"Severity", "Grade", "episode", "incident", "Useless"}, "what there is"
    page.keyboard.press("Escape")
    assert page.locator("#help").is_hidden()
    page.keyboard.press("c")
    before = page.locator("#readout").inner_text()
    page.keyboard.press("ArrowLeft")
    assert page.locator("#readout").inner_text() != before
    assert "severity" in page.locator("#cursor").get_attribute("aria-valuetext")
    page.keyboard.press("?")
    page.uncheck("#shortcuts-on")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("#help").is_hidden(), "shortcuts can be switched off"


def test_every_width_and_theme_is_accessible(filled, open_page):
    # axe is a script that is put into the page, which the policy of the page forbids.
    page = open_ready(open_page, filled, bypass_csp=True)
    page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    page.wait_for_selector("#row-table td")
    check_every_screen(page, "all")
    page.keyboard.press("?")
    check_every_screen(page, "help", widths=[390])
    page.keyboard.press("Escape")
    page.click("#remove")
    check_every_screen(page, "delete", widths=[390])


def test_an_empty_page_is_accessible(server, open_page):
    check_every_screen(open_page(server.url, wait="#empty:not([hidden])", bypass_csp=True), "empty")


def test_the_screen_reader_hears_what_the_charts_show(filled, open_page):
    page = open_ready(open_page, filled)
    for canvas in page.locator("canvas").all():
        assert canvas.get_attribute("role") == "img" and len(canvas.get_attribute("aria-label")) > 20
    assert page.locator("main").count() == 1 and page.locator("nav[aria-label]").count() == 1
    assert page.locator("#announce[aria-live=polite]").count() == 1


# ---- Hostile names ----

HOSTILE = ["<img src=x onerror=document.title='hacked'>", "\"><script>alert(1)</script>", "'; alert(1); '",
           "javascript:alert(1)", "&lt;b&gt;", "a\nb", "../../etc/passwd", "\u202egnihton", "${1+1}{{1+1}}", "k" * 65536]


def test_hostile_names_are_only_text(server, open_page):
    rows = []
    for number in range(30):
        rows += [json.dumps({"host": name, "<b onclick=alert(1)>load</b>": number % 7 + len(name) % 3, "\"'>": number % 5})
                 for name in HOSTILE]
    server.create("odd", key="host")
    server.post("odd", "\n".join(rows) + "\n", "application/x-ndjson")
    page = open_page(server.url, expect_errors=True)  # a key of 64 KB is too long for an address
    page.wait_for_selector("#key-list li")
    page.select_option("#key-order", "name")
    wait_until(page, "count => document.querySelectorAll('#key-list li').length === count", len(HOSTILE))
    names = page.eval_on_selector_all("#key-list .name", "names => names.map(name => name.textContent)")
    for name in HOSTILE[:-1]:
        assert name.replace("\n", "\\u000a").replace("\u202e", "\\u202e") in names
    assert max(map(len, names)) <= 120
    for button in range(len(HOSTILE)):
        page.locator("#key-list button").nth(button).click()
        page.wait_for_selector("#key-list button[aria-current=true]")
        page.wait_for_selector("#severity-chart[aria-label], #detail-error:not([hidden])")
    assert page.locator("main img, main script, main b[onclick]").count() == 0
    assert "hacked" not in page.title()
    page.locator("#key-list button", has_text="<img src=x").click()
    page.wait_for_selector("#column-charts h4")
    assert "<b onclick=alert(1)>load</b>" in page.locator("#column-charts h4").all_inner_texts()
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    assert page.locator("#state").inner_text().startswith("◌ Learning")
    picture(page, "hostile", full_page=True)


# ---- Many keys ----


def test_ten_thousand_keys_are_a_hundred_rows(server, open_page):
    server.create("fleet", key="host", time="time")
    server.post("fleet", fleet(10000, 3))
    page = open_page(server.url)
    page.wait_for_selector("#key-list li")
    assert page.locator("#key-count").inner_text() == "10,000"
    assert page.locator("#key-list li").count() == 100
    assert page.evaluate("document.querySelectorAll('*').length") < 1500
    page.fill("#key-find", "host-0999")
    wait_until(page, "document.querySelectorAll('#key-list li').length === 10")
    page.fill("#key-find", "zzz")
    wait_until(page, "document.getElementById('key-none').checkVisibility()")
    assert page.locator("#key-none").inner_text() == "No key has “zzz” in it."
    page.fill("#key-find", "")
    page.select_option("#key-order", "name")
    wait_until(page, "document.querySelector('#key-list .name')?.textContent === 'host-00000'")
    page.click("#key-after")
    wait_until(page, "document.querySelector('#key-list .name').textContent === 'host-00100'")
    assert page.locator("#key-place").inner_text() == "101 – 200 of 10,000"
    picture(page, "fleet")


def test_a_thousand_open_episodes_are_counted_and_at_most_fifty_lines_shown(server, open_page):
    # 600 calm rows of each key, then one row that is far off for all of them.
    calm = "".join(f"{START + row},host-{host:04d},{(row * 7 + host) % 10}\n" for row in range(600) for host in range(1000))
    server.create("outage", key="host", time="time")
    server.post("outage", "time,host,load\n" + calm)
    server.post("outage", "time,host,load\n" + "".join(f"{START + 600},host-{host:04d},900\n" for host in range(1000)))
    answer = server.ask("GET", "/api/v1/now?limit=50")
    assert answer["open"] > 900 and len(answer["episodes"]) == 50
    page = open_page(server.url)
    # An open episode belongs to its incident, also if that has more members than its record lists.
    title, incidents = page.locator("#now-title").inner_text(), {one["incident"] for one in answer["episodes"]}
    assert int(title.split()[0].replace(",", "")) == max(len(incidents), answer["incidents"]), title
    assert page.locator("#now-note").inner_text().startswith(f"{answer['open']:,} open episodes, ")
    page.click("#now-list > li > button[aria-expanded]")
    more = page.eval_on_selector("#now-list .members", "list => getComputedStyle(list, '::after').content")
    assert re.fullmatch(r'"64 of [\d,]+ are shown"', more), more
    assert page.locator("#now-list > li").count() <= 50
    picture(page, "outage")


def test_fast_rows_do_not_make_the_page_ask_more_often(server, open_page):
    server.create("fast", key="pump", time="time")
    server.post("fast", pumps(250))
    page = open_page(f"{server.url}/#stream=fast&key=pump-0&range=200")
    page.wait_for_selector("#link[data-state=live]")
    page.wait_for_selector("#severity-chart[aria-label]")
    asked, elements = [], page.evaluate("document.querySelectorAll('*').length")
    page.on("request", lambda request: asked.append(urllib.parse.urlparse(request.url).path.rsplit("/")[-1]))
    for batch in range(60):
        server.post("fast", pumps(5, first_minute=250 + 5 * batch))
    wait_until(page, "document.querySelector('#stream-figures dd').textContent === '2,200'")
    page.wait_for_timeout(100)
    seconds = page.evaluate("performance.now()") / 1000
    for kind in ("now", "keys", "points"):
        assert asked.count(kind) <= 4 + 2 * seconds, f"{kind} was asked for {asked.count(kind)} times in {seconds:.1f} s"
    # What is shown does not grow with the time that the page is open.
    wait_until(page, "document.getElementById('readout').textContent.includes('09:09:00')")
    assert page.get_attribute("#cursor", "max") == "199"
    assert page.evaluate("document.querySelectorAll('*').length") < elements + 100


def test_four_thousand_rows_of_a_key_are_drawn(server, open_page):
    server.create("long", time="time")
    server.post("long", "time,x\n" + "".join(f"{START + i},{i * 37 % 101}\n" for i in range(6000)))
    page = open_ready(open_page, server)
    page.select_option("#limit", "4000")
    wait_until(page, "document.getElementById('cursor').max === '3999'")
    assert "4,000 rows" in page.locator("#severity-chart").get_attribute("aria-label")


def test_ten_thousand_points_are_one_range_per_pixel_column(server, open_page):
    page = open_page(server.url, wait=None)
    heights = page.evaluate("""async () => {
        const { draw, readColours } = await import("/chart.js");
        const canvas = document.body.appendChild(document.createElement("canvas"));
        canvas.style.cssText = "width: 600px; height: 200px";
        const x = [...Array(10000).keys()], y = x.map(i => i === 5003 ? 1 : 0), colours = readColours();
        draw(canvas, { x, isTime: false, gap: Infinity, spans: [], marks: [], cursor: null, lines: [{ y }] }, colours);
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        const wanted = colours.line.match(/\\d+/g).map(Number), rows = [];
        for (let i = 0; i < data.length; i += 4)
            if (data[i + 3] > 120 && wanted.every((value, c) => Math.abs(data[i + c] - value) < 12))
                rows.push(Math.floor(i / 4 / canvas.width));
        return [Math.min(...rows), Math.max(...rows)];
    }""")
    assert heights[0] < 30 and heights[1] > 150, f"one high point among 10^4 is not lost: {heights}"


# ---- Access ----


def test_a_token_is_the_password_and_one_to_read_offers_no_writing(start_server, tmp_path, open_page):
    (tmp_path / "write").write_text("write-token-0123456789\n")
    (tmp_path / "read").write_text("read-token-0123456789\n")
    server = start_server("--token-file", str(tmp_path / "write"), "--read-token-file", str(tmp_path / "read"))
    page = open_page(server.url, wait="#empty:not([hidden])", http_credentials={"username": "oif", "password": "read-token-0123456789"})
    page.wait_for_selector("#link[data-state=live]")
    for part in ("#add", "#empty-add"):
        assert page.locator(part).is_hidden(), "a token that only reads is offered no writing"
    assert "token" not in page.evaluate("JSON.stringify(localStorage) + document.cookie")
    open_page(server.url, wait="#add:not([hidden])", http_credentials={"username": "oif", "password": "write-token-0123456789"})


def test_a_password_in_the_address_does_not_break_the_page(start_server, tmp_path, open_page):
    (tmp_path / "write").write_text("write-token-0123456789\n")
    server = start_server("--token-file", str(tmp_path / "write"))
    page = open_page(server.url.replace("//", "//any:write-token-0123456789@"), wait="#add:not([hidden])")
    page.wait_for_selector("#link[data-state=live]")


# ---- Connection ----


def test_the_page_comes_back_after_a_restart(filled, open_page):
    page = open_ready(open_page, filled, expect_errors=True, width=390, height=844)
    order = "['#detail', '.side'].map(one => document.querySelector(one).getBoundingClientRect().top)"
    before = page.evaluate(order)
    filled.stop(signal.SIGKILL)
    page.wait_for_selector("#link[data-state=down]")
    page.wait_for_timeout(1500)  # longer than the page waits to ask again
    assert page.locator("#banner").is_hidden(), "it is said once"
    after = page.evaluate(order)
    assert before[0] < before[1] and after[0] < after[1], "nothing changes its place"
    assert page.locator("#now-title").inner_text() == "Connection lost" and page.title() == "oif: connection lost"
    filled.start()
    page.wait_for_selector("#link[data-state=live]")
    page.wait_for_selector("#banner", state="hidden")
    filled.post("pumps", pumps(1, first_minute=1500))
    wait_until(page, "document.querySelector('#stream-figures dd').textContent === '6,004'")


def test_deleting_asks_first(filled, open_page):
    page = open_ready(open_page, filled, expect_errors=True)  # it may ask while the stream is gone
    page.route("**/api/v1", lambda route: route.fulfill(json={**route.fetch().json(), "read_only": True}))
    page.reload()
    page.click("#manage summary")
    assert page.locator("#remove").is_hidden() and page.locator("#forget").is_hidden(), "only a token to write may"
    page.unroute("**/api/v1")
    page.reload()
    page.click("#manage summary")
    page.click("#remove")
    page.click("#confirm [data-close]")
    assert len(filled.ask("GET", "/api/v1/streams")["streams"]) == 2
    page.click("#remove")
    page.click("#confirm-yes")
    wait_until(page, "document.querySelectorAll('#stream-list li').length === 1")
    assert [one["name"] for one in filled.ask("GET", "/api/v1/streams")["streams"]] == ["boiler"]
