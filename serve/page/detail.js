// The chosen key: its state in words, its severity with threshold and episodes, its columns with the
// reason's first, and the same as tables.
import { ask, path } from "./server.js";
import { draw, nearest, rangeWithBand, readColours, valueAt } from "./chart.js";
import { $, el, fill, setGrade, setText, show } from "./dom.js";
import { showEpisode } from "./feedback.js";
import * as format from "./format.js";
import { askPoints, isSame, spanOf, strongValues } from "./points.js";
import { followLatest, renderRange, setFixed, zoom } from "./range.js";
import { damagedText, learningText } from "./states.js";

const COLUMNS_AT_FIRST = 12, COLUMNS_ON_PHONE = 4, COLUMNS_AT_MOST = 60, TABLE_ROWS = 50, EPISODES = 100, EPISODES_LISTED = 20, ALERTS = 100;
const KEY_LIMIT = 2000; // longer ones do not fit into an address
const DRAG = 6;         // pixels from which on a click is a drag
const SIGNS = { high: "▲", low: "▼" }, GRADES = ["", "note", "warning", "critical"];

let page = null, of = {}, info = null, points = null, episodes = [], alerts = [], chosenEpisode = null;
let cursor = null, pinned = null, selection = null, colours = null, showsAll = false, tiles = [], frame = 0, turn = 0;

export const shownKey = () => info;
export const shownEpisode = () => chosenEpisode;
export const pinnedTime = () => points?.isTime ? pinned : null;

// ---- Loading ----

// What the server knows about the key; null: there are no keys, or its name is too long to ask.
async function askKey({ stream, key }) {
    if (key == null || key.length > KEY_LIMIT)
        return null;
    return (await ask(path(stream, "/keys", { key, limit: 1 }))).keys[0] ?? null;
}

// wanted: { stream, key } and a range
export async function loadDetail(wanted) {
    const mine = ++turn, { stream, key } = wanted, known = isSame(of, wanted) ? points : null;
    const [fresh, theirs, found, own] = await Promise.all([
        askPoints(wanted, known),
        ask(path(stream, "/episodes", { key, limit: EPISODES })),
        ask(path(stream, "/alerts", { key, limit: ALERTS })),
        askKey(wanted),
    ]);
    if (mine !== turn)
        return;
    points = fresh;
    of = { ...wanted };
    info = own;
    alerts = found.alerts;
    episodes = theirs.episodes;
    cursor = pinnedIndex();
    renderDetail();
}

export function clearDetail() {
    turn++;
    of = {};
    points = info = null;
    selection = null;
    for (const id of ["severity-figure", "columns", "episodes", "table"])
        show($(id), false);
    setText($("state"), "");
    showEpisode({}, null);
}

// ---- Words ----

// A stream without times has no time of an end either.
const isOpen = episode => episode.open ?? episode.ended == null;

const openOne = () => episodes.find(isOpen);

// An episode is red while it is open, and when somebody has chosen it.
const isHot = episode => isOpen(episode) || episode.number === chosenEpisode;

function currentEpisode() {
    return episodes.find(episode => episode.number === chosenEpisode) ?? openOne() ?? episodes[0];
}

// The reasons of the worst alert of the episode.
function reasonsOf(episode) {
    if (!episode)
        return [];
    const own = alerts.filter(alert => alert.row >= episode.first_row && alert.row <= episode.last_row);
    const worst = own.reduce((best, alert) => !best || alert.severity > best.severity ? alert : best, null);
    if (worst?.reasons?.length)
        return worst.reasons;
    return episode.column ? [{ column: episode.column, direction: episode.reason?.split(" ").pop(), share: null }] : [];
}

function renderState() {
    const open = openOne(), last = points.times.length - 1, state = $("state"), stream = page.streamOf(of.stream), own = info ?? stream;
    state.dataset.state = open || stream?.state === "damaged" ? "wrong" : "calm";
    if (open)
        return setText(state, `▲ ${format.reason(open)} ${format.since(open)}${open.state === "recovering" ? ", recovering" : ""}`);
    if (stream?.state === "damaged")
        return setText(state, damagedText(stream));
    if (last < 0)
        return setText(state, points.counts ? "No rows in this range." : "No rows of this key are kept.");
    const ended = episodes[0], what = ended && format.reason(ended);
    if (ended?.ended_by === "silence" && points.rows?.[last] === ended.last_row)
        return setText(state, `◌ No rows since ${format.time(ended.last_seen)}. The last episode, ${what}, ended for lack of rows.`);
    if (own?.state === "no data")
        return setText(state, `◌ No data since ${format.time(own.state_since ?? own.last_seen)}.`);
    if (own?.state === "learning" || points.thresholds[last] == null)
        return setText(state, `◌ Learning: ${own?.learning ? learningText(own) : "there is no threshold yet"}. No row can be anomalous before.`);
    setText(state, episodes.length ? `✓ Normal. The last episode: ${format.reason(episodes[0])}, ended ${
        episodes[0].ended == null ? `at row ${format.count(episodes[0].last_row)}` : format.time(episodes[0].ended)}.`
        : "✓ Normal. No episode so far.");
}

function place(i) {
    if (points.counts)
        return `${format.time(points.times[i], true)}, ${format.count(points.counts[i])} ${points.counts[i] === 1 ? "row" : "rows"} in ${format.duration(points.seconds)}`;
    const row = `row ${format.count(points.rows[i])}`;
    return points.times[i] == null ? row : `${format.time(points.times[i], true)}, ${row}`;
}

function describeSeverities() {
    const { severities, thresholds } = points, last = severities.length - 1, what = points.counts ? "points" : "rows";
    let top = 0;
    for (let i = 0; i < severities.length; i++)
        if (severities[i] > severities[top])
            top = i;
    return `Severity of ${format.short(of.key ?? of.stream)}, ${format.count(severities.length)} ${what} up to ${place(last)}. ` +
           `Latest ${format.severity(severities[last])}, threshold ${format.severity(thresholds[last])}. ` +
           `Highest ${format.severity(severities[top])} at ${place(top)}. ${format.count(points.spans.length)} episodes.`;
}

// "expected 90 to 140"; "" if nothing was.
function endsText(ends, name) {
    const unit = format.unit(name), isLarge = ends?.some(end => Math.abs(end) >= 1e4);
    const texts = ends?.map(end => isLarge ? format.quantity(end, name) : format.number(end)) ?? [];
    return ends ? `expected ${texts.join(" to ")}${unit && !isLarge ? ` ${unit}` : ""}` : "";
}
const expectedText = (name, i) => endsText(points.expected[name]?.[i], name);

function describeColumn(name, values) {
    let low = Infinity, high = -Infinity;
    for (const value of values)
        if (value != null) {
            if (value < low) low = value;
            if (value > high) high = value;
        }
    const last = values.length - 1, expected = expectedText(name, last), unit = format.unit(name);
    const range = low > high ? "no numbers" : `from ${format.number(low)} to ${format.number(high)}${unit && ` ${unit}`}`;
    return `Column ${format.short(name)}: ${range}, latest ${format.quantity(values[last], name)}${expected && `, ${expected}`}.`;
}

function renderReadout() {
    const i = cursor ?? points.times.length - 1, slider = $("cursor");
    const grade = GRADES[points.grades[i]];
    const words = `severity ${format.severity(points.severities[i])}, threshold ${format.severity(points.thresholds[i])}${grade && `, ${grade}`}`;
    $("readout").replaceChildren(cursor == null ? "latest: " : "", el("b", { textContent: place(i) }), `, ${words}`);
    slider.max = points.times.length - 1;
    slider.value = i;
    slider.setAttribute("aria-valuetext", `${place(i)}, ${words}`);
    for (const tile of tiles) {
        setText(tile.value, format.quantity(points.values[tile.name]?.[i], tile.name));
        setText(tile.expected, expectedText(tile.name, i) || (tile.shown.band ? "expected –" : ""));
    }
}

// ---- Charts ----

function prepare() {
    const { severities, x, seconds = 0 } = points;
    points.spans = spansOf();
    points.hot = points.spans.filter(span => isHot(span.episode));
    points.isHot = i => points.hot.some(({ from, to }) => x[i] >= from - seconds && x[i] <= to + seconds);
    points.marks = [];
    points.grades.forEach((grade, i) => grade > 0 && points.marks.push({ x: x[i], y: severities[i], colour: points.isHot(i) ? "alarm" : "dim" }));
}

function spansOf() {
    const current = currentEpisode(), spans = [];
    for (const episode of episodes) {
        const span = spanOf(points, episode);
        if (span)
            spans.push({ ...span, episode, chosen: episode === current && isHot(episode), past: !isOpen(episode) });
    }
    return spans;
}

function drawAll() {
    frame = 0;
    if (!points?.times.length)
        return;
    colours ??= readColours();
    const common = { x: points.x, domain: points.domain, isTime: points.isTime, gap: points.gap, spans: points.spans, cursor, selection };
    draw($("severity-chart"), { ...common, marks: points.marks, lines: [{ y: points.severities }, { y: points.thresholds, dashed: true }] }, colours);
    for (const tile of tiles)
        if (points.values[tile.name])
            draw(tile.canvas, { ...common, ...tile.shown }, colours);
}

// The values of a column, those that are the reason of an alert again, and what was expected.
function columnChart(name) {
    const y = points.values[name], band = points.expected[name], spread = points.spread[name];
    const all = spread ? spread.flatMap(ends => ends ?? []) : y;
    return { name, band, spread, strong: strongValues(points, name, alerts).map((value, i) => points.isHot(i) ? value : null), marks: [], lines: [{ y }],
             range: band ? rangeWithBand(all, band) : spread && rangeWithBand(all, []) };
}

export function redraw() {
    frame ||= requestAnimationFrame(drawAll);
}

export function recolour() {
    colours = null;
    redraw();
}

// A click chooses a row, and the episode that it is in. A drag chooses a range; two clicks double it.
function follow(canvas) {
    let start = null, hasDragged = false;
    const value = event => valueAt(canvas, points.domain, event.clientX);
    canvas.onpointerdown = event => {
        start = event.button === 0 && points.isTime ? event.clientX : null;
        hasDragged = false;
    };
    canvas.onpointermove = event => {
        if (start == null || Math.abs(event.clientX - start) < DRAG)
            return moveCursor(nearest(points.x, value(event)));
        canvas.setPointerCapture(event.pointerId);
        hasDragged = true;
        selection = [valueAt(canvas, points.domain, start), value(event)].sort((a, b) => a - b);
        redraw();
    };
    canvas.onpointerup = () => {
        const ends = selection;
        start = selection = null;
        if (ends) {
            setFixed(...ends);
            page.onRange();
        }
    };
    canvas.onpointercancel = () => { start = selection = null; redraw(); };
    canvas.onpointerleave = () => moveCursor(null);
    canvas.onclick = event => hasDragged || pick(value(event));
    canvas.ondblclick = () => zoom(2);
}

function pick(x) {
    const near = (points.domain[1] - points.domain[0]) / 200;
    const span = points.spans.find(one => x >= one.from - near && x <= one.to + near);
    pin(nearest(points.x, x));
    if (span)
        chooseEpisode(span.episode.number);
    page.onPick();
}

function pin(i) {
    pinned = points.x[i] ?? null;
    moveCursor(null);
}

// The latest row is not marked.
function pinnedIndex() {
    const i = pinned == null || !points.x.length ? null : nearest(points.x, pinned);
    return i == null || i >= points.x.length - 1 ? null : i;
}

export function setPinned(time) {
    pinned = time;
    cursor = points ? pinnedIndex() : null;
}

export function moveCursor(i) {
    if (!points?.times.length)
        return;
    cursor = i == null ? pinnedIndex() : i >= points.times.length - 1 ? null : i;
    renderReadout();
    redraw();
}

export function chooseEpisode(number) {
    chosenEpisode = number;
    if (points)
        renderDetail();
}

// Moves the charts to an episode that they do not show.
export function showChosenEpisode() {
    const episode = episodes.find(one => one.number === chosenEpisode);
    if (!episode || !points || episode.began == null || spanOf(points, episode))
        return false;
    if (isOpen(episode)) {
        followLatest();
        return true;
    }
    const end = episode.ended ?? episode.last_seen ?? episode.began, around = Math.max(5 * (end - episode.began), 600);
    setFixed(episode.began - around, end + around);
    return true;
}

// Of the axis; null: it has no times.
export const shownTimes = () => points?.isTime ? points.domain : null;

// ---- Columns ----

// The reason's columns come first, then the stream's order.
function columnOrder(reasons) {
    const wanted = $("column-find").value.toLowerCase();
    const names = (points.columns ?? Object.keys(points.values)).filter(name => points.values[name] && name.toLowerCase().includes(wanted));
    const first = reasons.map(reason => reason.column).filter(name => names.includes(name));
    return [...new Set([...first, ...names])];
}

function makeTile() {
    const tile = el("figure", { className: "card tile" },
                    el("figcaption", {}, el("h4"), el("span", { className: "value" }), el("span", { className: "because" }), el("span", { className: "expected" })),
                    el("canvas"));
    const canvas = tile.lastChild;
    canvas.setAttribute("role", "img");
    follow(canvas);
    return tile;
}

// "▼ low 61% of the reason, expected 4 to 5": the server's words without the name of the column, which is the title, and
// without what was expected if that is still so: it is below. They have no share of a column that is the whole reason.
function becauseText(reason, isLong) {
    if (!reason)
        return "";
    const share = reason.share == null ? "" : ` ${Math.round(100 * reason.share)}%`;
    const words = reason.text?.startsWith(`${reason.column} `) ? reason.text.slice(reason.column.length + 1)
        : `${reason.direction ?? ""}${share}`;
    const then = endsText(reason.expected, reason.column), expected = then === expectedText(reason.column, points.times.length - 1) || !then ? "" : `, ${then}`;
    return `${SIGNS[reason.direction] ?? "◆"} ${format.sentence(words)}${isLong && reason.share < 0.995 ? " of the reason" : ""}${expected}`;
}

function renderColumns() {
    const episode = currentEpisode(), reasons = reasonsOf(episode), order = columnOrder(reasons);
    const first = matchMedia("(max-width: 40rem)").matches ? COLUMNS_ON_PHONE : COLUMNS_AT_FIRST;
    const names = order.slice(0, showsAll ? COLUMNS_AT_MOST : first);
    const byName = new Map(reasons.map(reason => [reason.column, reason]));
    tiles = [];
    fill($("column-charts"), names, makeTile, (tile, name, i) => {
        const [title, value, because, expected] = tile.firstChild.children, reason = byName.get(name);
        setText(title, format.short(name));
        setText(because, becauseText(reason, i === 0));
        tile.dataset.reason = Boolean(reason) && (isHot(episode) || "past");
        tile.lastChild.setAttribute("aria-label", describeColumn(name, points.values[name]));
        tiles.push({ name, value, expected, canvas: tile.lastChild, shown: columnChart(name) });
    });
    show($("band-legend"), tiles.some(({ shown }) => shown.band));
    const when = episode && (episode.began == null ? `row ${format.count(episode.first_row)}` : format.time(episode.began));
    setText($("why"), episode ? `${episode === openOne() ? "Why now" : `Why at ${when}`}: ${reasons.map(reason =>
        reason.text || `${reason.column} ${reason.direction ?? ""}`).map(format.sentence).join("; ") || "several columns together"}` : "");
    const rest = Math.min(order.length, COLUMNS_AT_MOST) - names.length;
    show($("columns-more"), rest > 0);
    setText($("columns-more"), `Show ${rest} more of ${order.length} columns`);
    const all = Object.keys(points.values).length;
    show($("column-find"), all > COLUMNS_AT_FIRST);
    show($("column-none"), all > 0 && order.length === 0);
    setText($("column-none"), `No column has “${format.short($("column-find").value, 40)}” in its name.`);
    show($("columns"), all > 0);
}

export function showAllColumns() {
    showsAll = true;
    renderDetail();
}

// ---- Tables ----

function renderEpisodes() {
    show($("episodes"), episodes.length > 0);
    const current = currentEpisode();
    const make = () => {
        const cells = [0, 1, 2, 3, 4, 5].map(i => el("td", { className: i >= 3 ? "number" : "" }));
        return el("tr", {}, ...cells, el("td", { className: "badge" }));
    };
    fill($("episode-table").tBodies[0], episodes.slice(0, EPISODES_LISTED), make, (row, episode) => {
        const [what, began, ended, rows, anomalies, severity, grade] = row.children;
        if (!what.firstChild)
            what.append(el("button", { type: "button" }));
        setText(what.firstChild, format.reason(episode));
        what.firstChild.onclick = () => page.onEpisode(episode.number);
        setText(began, episode.began == null ? `row ${format.count(episode.first_row)}` : format.time(episode.began, true));
        setText(ended, episode === openOne() ? "open" : episode.ended == null ? `row ${format.count(episode.last_row)}` : format.time(episode.ended, true));
        setText(rows, format.count(episode.rows));
        setText(anomalies, format.count(episode.anomalies));
        setText(severity, format.severity(episode.peak_severity));
        setGrade(grade, episode.grade);
        row.setAttribute("aria-current", episode === current);
        row.dataset.past = !isHot(episode);
    });
}

export function renderTable() {
    if (!$("table").open || !points?.rows)
        return;
    const names = Object.keys(points.values).slice(0, COLUMNS_AT_MOST);
    const titles = ["Row", "Time", "Severity", "Threshold", "Grade", ...names.map(name => format.short(name, 40))];
    const header = el("tr", {}, ...titles.map(title => el("th", { scope: "col", textContent: title })));
    $("row-table").tHead.replaceChildren(header);
    const last = points.rows.map((_, i) => i).slice(-TABLE_ROWS).reverse();
    fill($("row-table").tBodies[0], last, () => el("tr"), (row, i) => {
        const cells = [format.count(points.rows[i]), format.time(points.times[i], true), format.severity(points.severities[i]),
                       format.severity(points.thresholds[i]), GRADES[points.grades[i]] ?? "",
                       ...names.map(name => format.number(points.values[name][i]))];
        fill(row, cells, () => el("td"), setText);
    });
}

// ---- All of it ----

function renderDetail() {
    prepare();
    const hasRows = points.times.length > 0;
    show($("severity-figure"), hasRows);
    show($("table"), hasRows && points.rows !== null);
    renderRange(points);
    renderState();
    showEpisode(of, currentEpisode() ?? null);
    renderEpisodes();
    if (!hasRows)
        return show($("columns"), false);
    $("severity-chart").setAttribute("aria-label", describeSeverities());
    renderColumns();
    renderReadout();
    renderTable();
    redraw();
}

// What was composed for another time zone.
export function renderAgain() {
    if (points)
        renderDetail();
}

// given: { streamOf(name), onRange, onPick, onEpisode(number) }
export function startDetail(given) {
    page = given;
    follow($("severity-chart"));
    new ResizeObserver(redraw).observe($("detail"));
    $("cursor").oninput = event => moveCursor(Number(event.target.value));
    $("cursor").onchange = event => { pin(Number(event.target.value)); page.onPick(); };
    $("columns-more").onclick = showAllColumns;
    $("column-find").oninput = renderAgain;
    $("table").ontoggle = renderTable;
}
