"""A file that is dropped on the page becomes a stream, and its scores are those of `oif score`."""

import base64
import gzip

from page_rows import pumps
from page_server import oif_score, picture, wait_until

DROP = """([name, text]) => {
    const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0)), held = new DataTransfer();
    held.items.add(new File([bytes], name));
    for (const kind of ["dragenter", "dragover", "drop"])
        document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: held, bubbles: true, cancelable: true }));
}"""


def drop(page, name, data):
    page.evaluate(DROP, [name, base64.b64encode(data if isinstance(data, bytes) else data.encode()).decode()])


def wait_title(page, text):
    wait_until(page, "text => document.getElementById('upload-title').textContent === text", text)


def open_empty(server, open_page, **options):
    page = open_page(server.url, wait="#empty:not([hidden])", **options)
    page.wait_for_selector("#link[data-state=live]")
    return page


def test_a_dropped_file_is_scored_at_once(server, open_page):
    text = pumps(8000, fault=(1, 7990, 8100))
    page = open_empty(server, open_page)
    picture(page, "empty")
    drop(page, "my pumps.csv", text)
    wait_title(page, "Added my-pumps")
    page.wait_for_selector("#severity-chart[aria-label]")
    scored = oif_score(text, "--key", "pump", "--time", "time")
    note = page.locator("#upload-note").inner_text()
    assert note == f"{len(scored):,} rows, {sum(row['anomaly'] == '1' for row in scored):,} anomalies. " \
                   "Taken from the first lines: key pump, time time."
    wait_until(page, "where => document.querySelector('#now-list .where')?.textContent === where", "pump-1")
    picture(page, "dropped")
    points = server.ask("GET", "/api/v1/streams/my-pumps/points?key=pump-3&limit=1000")
    own = [row for row in scored if row["pump"] == "pump-3"]
    assert points["severities"] == [float(row["severity"]) if row["severity"] else None for row in own[-len(points["severities"]):]]


def test_an_upload_that_was_stopped_leaves_the_panel_to_the_next(server, open_page):
    page = open_empty(server, open_page, expect_errors=True)
    page.route("**/streams/first/rows*", lambda route: None)  # has no answer
    with page.expect_request("**/streams/first/rows*"):
        drop(page, "first.csv", pumps(50))
    wait_title(page, "Adding first")
    picture(page, "upload_runs")
    page.click("#upload-stop")
    wait_title(page, "first: not complete")
    assert page.locator("#upload-error").is_hidden()
    with page.expect_request("**/streams/first/rows*"):
        drop(page, "first.csv", pumps(50))
    drop(page, "second.csv", pumps(50))
    wait_title(page, "Added second")
    page.wait_for_timeout(500)  # the other one has ended, too
    assert page.locator("#upload-title").inner_text() == "Added second"


def test_a_file_above_the_limit_shows_the_remedy_of_the_server(start_server, open_page):
    server = start_server("--max-body", "100K")
    page = open_empty(server, open_page, expect_errors=True)
    drop(page, "large.csv", pumps(8000))
    page.wait_for_selector("#upload-error:not([hidden])")
    error = page.locator("#upload-error").inner_text()
    assert "large.csv: the body has more than" in error and "max-body" in error, error
    assert server.ask("GET", "/api/v1/streams")["streams"] == [], "nothing was made of it"


def test_the_place_of_a_bad_row_is_that_in_the_file(server, open_page):
    lines = pumps(8000).splitlines()
    lines[25000] = lines[25000].rsplit(",", 2)[0] + ",5.1,warm"
    page = open_empty(server, open_page, expect_errors=True)
    drop(page, "bad.csv", "\n".join(lines) + "\n")
    page.wait_for_selector("#upload-error:not([hidden])")
    error = page.locator("#upload-error").inner_text()
    assert "bad.csv line 25,001" in error and "warm" in error, error
    wait_title(page, "bad: not complete")
    assert page.locator("#upload-note").inner_text().startswith("24,999 rows")
    picture(page, "bad_row")


def test_what_an_upload_leaves_out_is_said(server, open_page):
    page = open_empty(server, open_page)
    drop(page, "picture.csv", b"\x89PNG\r\n\x00\x00" + bytes(range(256)) * 40)
    page.wait_for_selector("#upload-error:not([hidden])")
    assert page.locator("#upload-error").inner_text() == "picture.csv: this is not text; drop a CSV or NDJSON file, also with .gz"
    assert server.ask("GET", "/api/v1/streams")["streams"] == [], "nothing was made of it"
    rows = [f"{1767225600 + i},{i % 5},remark number {i * 7919 % 1009}\n" for i in range(300)]
    drop(page, "notes.csv", "time,load,remark\n" + "".join(rows))
    wait_title(page, "Added notes")
    assert "remark" in page.locator("#upload-dropped").inner_text()
    assert page.locator("#upload-error").is_hidden()


def test_gzip_and_ndjson_files(server, open_page):
    page = open_empty(server, open_page)
    drop(page, "a.csv.gz", gzip.compress(pumps(500).encode()))
    wait_title(page, "Added a")
    assert page.locator("#upload-note").inner_text().startswith("2,000 rows")
    lines = "".join(f'{{"host": "h{i % 3}", "load": {i * 7 % 13}}}\n' for i in range(900))
    drop(page, "b.ndjson", lines)
    wait_title(page, "Added b")
    assert server.ask("GET", "/api/v1/streams/b")["keys"] == 3


def test_a_file_can_be_chosen_and_the_same_name_is_another_stream(server, open_page):
    page = open_empty(server, open_page)
    file = {"name": "load.csv", "mimeType": "text/csv", "buffer": b"x,y\n" + b"1,2\n" * 50}
    # Not with a chooser of files: the browser may hear too late that a test answers it.
    page.evaluate("""() => document.getElementById("file").addEventListener("click", event => {
        event.preventDefault();
        event.target.dataset.asked = Number(event.target.dataset.asked ?? 0) + 1;
    })""")
    asked = "times => document.getElementById('file').dataset.asked === times"
    page.keyboard.press("a")
    wait_until(page, asked, "1")
    page.set_input_files("#file", file)
    wait_title(page, "Added load")
    page.click("#add")
    wait_until(page, asked, "2")
    page.set_input_files("#file", file)
    wait_title(page, "Added load-2")
    assert len(server.ask("GET", "/api/v1/streams")["streams"]) == 2


def test_the_same_name_is_another_stream_before_the_page_has_heard_of_the_first(server, open_page):
    page = open_empty(server, open_page)
    held, is_over = [], []
    page.route("**/api/v1/now*", lambda route: route.continue_() if is_over else held.append(route))
    drop(page, "load.csv", "x,y\n" + "1,2\n" * 50)
    wait_title(page, "Added load")
    drop(page, "load.csv", "x,y\n" + "1,2\n" * 60)
    wait_title(page, "Added load-2")
    assert [(one["name"], one["rows"]) for one in server.ask("GET", "/api/v1/streams")["streams"]] == [("load", 50), ("load-2", 60)]
    is_over.append(True)
    for route in held:
        route.continue_()
    page.wait_for_selector("#work:not([hidden])")


def test_the_name_of_a_stream_that_was_deleted_is_free_again(server, open_page):
    page = open_empty(server, open_page, expect_errors=True)  # it may ask while the stream is gone
    for _ in range(2):
        drop(page, "load.csv", "x,y\n" + "1,2\n" * 50)
        wait_title(page, "Added load")
        page.evaluate("document.getElementById('manage').open = true")
        page.click("#remove")
        page.click("#confirm-yes")
        page.wait_for_selector("#empty:not([hidden])")
        page.evaluate("document.getElementById('upload-title').textContent = ''")


def test_the_first_lines_suggest_key_and_time(server, open_page):
    page = open_page(server.url, wait=None)
    guess = page.evaluate("""async text => { const { suggest } = await import("/upload.js"); return suggest(text, false); }""",
                          "when;host;x\n2026-01-01 10:00;a;1,5\n2026-01-01 10:01;a;2\n2026-01-01 10:02;a;3\n")
    assert guess == {"time": "when", "key": "host"}


def test_rows_with_line_ends_in_quotes_are_whole(server, open_page):
    record = '"two\nlines",{}\n'
    text = "note,x\n" + "".join(record.format(i % 17) for i in range(20000))
    page = open_empty(server, open_page)
    drop(page, "quoted.csv", text)
    wait_title(page, "Added quoted")
    assert page.locator("#upload-note").inner_text().startswith("20,000 rows")
