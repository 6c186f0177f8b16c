// The chosen key: its state in words, its score with threshold and episodes, its columns with the
// reason's first, and the same as tables.
import { ask, path } from "./server.js";
import { axisOf, draw, indexAt, rangeWithBand, readColours } from "./chart.js";
import { $, el, fill, setGrade, setText, show } from "./dom.js";
import { showEpisode } from "./feedback.js";
import * as format from "./format.js";

const COLUMNS_AT_FIRST = 12, COLUMNS_AT_MOST = 60, TABLE_ROWS = 50, EPISODES = 20, ALERTS = 100;
const SIGNS = { high: "▲", low: "▼" }, GRADES = ["", "note", "warning", "critical"];

let of = {}, points = null, episodes = [], alerts = [], chosenEpisode = null;
let cursor = null, colours = null, showsAll = false, tiles = [], frame = 0, turn = 0;

// ---- Loading ----

const isSame = wanted => of.stream === wanted.stream && of.key === wanted.key && of.limit === wanted.limit;

// Only the rows since the last one, if their times say which.
function pointsQuery(wanted) {
    const last = isSame(wanted) && points?.rows.length ? points.times[points.times.length - 1] : null;
    return { key: wanted.key, limit: wanted.limit, since: last, expected: true };
}

function append(list, more, from, limit) {
    return list.concat(more.slice(from)).slice(-limit);
}

// The server leaves out columns of which it expected nothing.
const bandOf = ({ expected }, name, length) => expected[name] ?? Array(length).fill(null);

function merge(fresh, limit) {
    const last = points.rows[points.rows.length - 1], from = fresh.rows.findIndex(row => row > last);
    const names = Object.keys(fresh.values);
    const isOther = names.length !== Object.keys(points.values).length || names.some(name => !points.values[name]);
    if (isOther || !fresh.rows.length || fresh.rows[fresh.rows.length - 1] < last)
        return false;
    if (from >= 0)
        for (const name of ["rows", "times", "scores", "thresholds", "grades"])
            points[name] = append(points[name], fresh[name], from, limit);
    for (const name of from >= 0 ? names : []) {
        const before = points.values[name].length;
        points.values[name] = append(points.values[name], fresh.values[name], from, limit);
        points.expected[name] = append(bandOf(points, name, before), bandOf(fresh, name, fresh.rows.length), from, limit);
    }
    return true;
}

// wanted: { stream, key, limit }
export async function loadDetail(wanted) {
    const mine = ++turn, { stream, key } = wanted;
    const query = pointsQuery(wanted);
    let [fresh, theirs, found] = await Promise.all([
        ask(path(stream, "/points", query)),
        ask(path(stream, "/episodes", { key, limit: EPISODES })),
        ask(path(stream, "/alerts", { key, limit: ALERTS })),
    ]);
    if (mine !== turn)
        return;
    if (query.since == null || !merge(fresh, wanted.limit)) {
        if (query.since != null)
            fresh = await ask(path(stream, "/points", { ...query, since: null }));
        if (mine !== turn)
            return;
        points = fresh;
    }
    if (!isSame(wanted)) {
        cursor = null;
        if (of.stream !== stream || of.key !== key)
            chosenEpisode = null;
    }
    of = { ...wanted };
    episodes = theirs.episodes;
    alerts = found.alerts;
    renderDetail();
}

export function clearDetail() {
    turn++;
    of = {};
    points = null;
    for (const id of ["score-figure", "columns", "episodes", "table"])
        show($(id), false);
    setText($("state"), "");
    showEpisode({}, null);
}

// ---- Words ----

// A stream without times has no time of an end either.
const isOpen = episode => episode.open ?? episode.ended == null;

const openOne = () => episodes.find(isOpen);

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
    const open = openOne(), last = points.rows.length - 1, state = $("state");
    state.dataset.state = open ? "wrong" : "calm";
    if (open)
        return setText(state, `▲ ${format.short(format.reason(open))} ${format.since(open)}`);
    if (last < 0)
        return setText(state, "No rows of this key are kept.");
    if (points.thresholds[last] == null)
        return setText(state, "◌ Learning: there is no threshold yet, so no row can be anomalous.");
    const ended = episodes[0], what = ended && format.short(format.reason(ended));
    if (ended?.closed && points.grades[last] > 0)
        return setText(state, `◌ ${what}: closed by ${format.short(ended.acknowledged?.by ?? "", 200)}, but its rows are still anomalous.`);
    if (ended?.ended_by === "silence" && points.rows[last] === ended.last_row)
        return setText(state, `◌ No rows since ${format.time(ended.last_seen)}. The last episode, ${what}, ended for lack of rows.`);
    setText(state, episodes.length ? `✓ Normal. The last episode: ${format.short(format.reason(episodes[0]))}, ended ${
        episodes[0].ended == null ? `at row ${format.count(episodes[0].last_row)}` : format.time(episodes[0].ended)}.`
        : "✓ Normal. No episode so far.");
}

function place(i) {
    const row = `row ${format.count(points.rows[i])}`;
    return points.times[i] == null ? row : `${format.time(points.times[i], true)}, ${row}`;
}

function describeScores() {
    const { scores, rows, thresholds } = points, last = scores.length - 1;
    let top = 0;
    for (let i = 0; i < scores.length; i++)
        if (scores[i] > scores[top])
            top = i;
    return `Score of ${format.short(of.key ?? of.stream)}, ${format.count(rows.length)} rows up to ${place(last)}. ` +
           `Latest ${format.score(scores[last])}, threshold ${format.score(thresholds[last])}. ` +
           `Highest ${format.score(scores[top])} at ${place(top)}. ${format.count(points.spans.length)} episodes.`;
}

// "expected 90 to 140"; "" if nothing was.
const endsText = ends => ends ? `expected ${ends.map(format.number).join(" to ")}` : "";
const expectedText = (name, i) => endsText(points.expected[name]?.[i]);

function describeColumn(name, values) {
    let low = Infinity, high = -Infinity;
    for (const value of values)
        if (value != null) {
            if (value < low) low = value;
            if (value > high) high = value;
        }
    const last = values.length - 1, expected = expectedText(name, last);
    const range = low > high ? "no numbers" : `from ${format.number(low)} to ${format.number(high)}`;
    return `Column ${format.short(name)}: ${range}, latest ${format.number(values[last])}${expected && `, ${expected}`}.`;
}

function renderReadout() {
    const i = cursor ?? points.rows.length - 1, slider = $("cursor");
    const grade = GRADES[points.grades[i]];
    const words = `score ${format.score(points.scores[i])}, threshold ${format.score(points.thresholds[i])}${grade && `, ${grade}`}`;
    $("readout").replaceChildren(cursor == null ? "latest: " : "", el("b", { textContent: place(i) }), `, ${words}`);
    slider.max = points.rows.length - 1;
    slider.value = i;
    slider.setAttribute("aria-valuetext", `${place(i)}, ${words}`);
    for (const tile of tiles) {
        setText(tile.value, format.number(points.values[tile.name]?.[i]));
        setText(tile.expected, expectedText(tile.name, i) || (tile.shown.band ? "expected –" : ""));
    }
}

// ---- Charts ----

function prepare() {
    const { times, rows, scores } = points;
    Object.assign(points, axisOf(times, rows));
    points.spans = spansOf();
    points.marks = [];
    points.grades.forEach((grade, i) => grade > 0 && points.marks.push({ x: points.x[i], y: scores[i] }));
}

function spansOf() {
    const { rows } = points, current = currentEpisode(), spans = [];
    for (const episode of episodes) {
        const from = rows.findIndex(row => row >= episode.first_row);
        let to = rows.length - 1;
        while (to >= 0 && rows[to] > episode.last_row)
            to--;
        if (from >= 0 && to >= from)
            spans.push({ first: from, last: to, from: points.x[from], to: points.x[to], episode, chosen: episode === current });
    }
    return spans;
}

function drawAll() {
    frame = 0;
    if (!points?.rows.length)
        return;
    colours ??= readColours();
    const common = { x: points.x, isTime: points.isTime, gap: points.gap, spans: points.spans, cursor };
    draw($("score-chart"), { ...common, marks: points.marks, lines: [{ y: points.scores }, { y: points.thresholds, dashed: true }] }, colours);
    for (const tile of tiles)
        if (points.values[tile.name])
            draw(tile.canvas, { ...common, ...tile.shown }, colours);
}

// The values of a column, those that are the reason of an alert again, and what was expected.
function columnChart(name) {
    const y = points.values[name], band = points.expected[name];
    const rows = new Set(alerts.filter(({ reasons }) => reasons?.some(({ column }) => column === name)).map(({ row }) => row));
    const strong = y.map((value, i) => rows.has(points.rows[i]) ? value : null);
    return { band, strong, range: band && rangeWithBand(y, band), marks: [], lines: [{ y }] };
}

export function redraw() {
    frame ||= requestAnimationFrame(drawAll);
}

export function recolour() {
    colours = null;
    redraw();
}

function follow(canvas) {
    canvas.onpointermove = event => moveCursor(indexAt(canvas, points.x, event.clientX));
    canvas.onpointerleave = () => moveCursor(null);
    canvas.onclick = event => {
        const i = indexAt(canvas, points.x, event.clientX);
        const span = points.spans.find(one => i >= one.first - 2 && i <= one.last + 2);
        if (span)
            chooseEpisode(span.episode.number);
    };
}

export function moveCursor(i) {
    if (!points?.rows.length)
        return;
    cursor = i == null || i >= points.rows.length - 1 ? null : i;
    renderReadout();
    redraw();
}

export function chooseEpisode(number) {
    chosenEpisode = number;
    if (points)
        renderDetail();
}

// ---- Columns ----

// The reason's columns come first, then the stream's order.
function columnOrder(reasons) {
    const names = (points.columns ?? Object.keys(points.values)).filter(name => points.values[name]);
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
// without what was expected if that is still so: it is below.
function becauseText(reason, isLong) {
    if (!reason)
        return "";
    const share = reason.share == null ? "" : ` ${Math.round(100 * reason.share)}%`;
    const words = reason.text?.startsWith(`${reason.column} `) ? reason.text.slice(reason.column.length + 1)
        : `${reason.direction ?? ""}${share}`;
    const then = endsText(reason.expected), expected = then === expectedText(reason.column, points.rows.length - 1) || !then ? "" : `, ${then}`;
    return `${SIGNS[reason.direction] ?? "◆"} ${format.short(words)}${isLong ? " of the reason" : ""}${expected}`;
}

function renderColumns() {
    const episode = currentEpisode(), reasons = reasonsOf(episode), order = columnOrder(reasons);
    const names = order.slice(0, showsAll ? COLUMNS_AT_MOST : COLUMNS_AT_FIRST);
    const byName = new Map(reasons.map(reason => [reason.column, reason]));
    tiles = [];
    fill($("column-charts"), names, makeTile, (tile, name, i) => {
        const [title, value, because, expected] = tile.firstChild.children, reason = byName.get(name);
        setText(title, format.short(name));
        setText(because, becauseText(reason, i === 0));
        tile.dataset.reason = Boolean(reason);
        tile.lastChild.setAttribute("aria-label", describeColumn(name, points.values[name]));
        tiles.push({ name, value, expected, canvas: tile.lastChild, shown: columnChart(name) });
    });
    show($("band-legend"), tiles.some(({ shown }) => shown.band));
    const when = episode && (episode.began == null ? `row ${format.count(episode.first_row)}` : format.time(episode.began));
    setText($("why"), episode ? `${episode === openOne() ? "Why now" : `Why at ${when}`}: ${reasons.map(reason =>
        reason.text || `${reason.column} ${reason.direction ?? ""}`).map(text => format.short(text)).join("; ") || "several columns together"}` : "");
    const rest = Math.min(order.length, COLUMNS_AT_MOST) - names.length;
    show($("columns-more"), rest > 0);
    setText($("columns-more"), `Show ${rest} more of ${order.length} columns`);
    show($("columns"), names.length > 0);
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
    fill($("episode-table").tBodies[0], episodes, make, (row, episode) => {
        const [what, began, ended, rows, anomalies, severity, grade] = row.children;
        if (!what.firstChild)
            what.append(el("button", { type: "button" }));
        setText(what.firstChild, format.short(format.reason(episode)));
        what.firstChild.onclick = () => chooseEpisode(episode.number);
        setText(began, episode.began == null ? `row ${format.count(episode.first_row)}` : format.time(episode.began, true));
        setText(ended, episode === openOne() ? "open" : episode.ended == null ? `row ${format.count(episode.last_row)}` : format.time(episode.ended, true));
        setText(rows, format.count(episode.rows));
        setText(anomalies, format.count(episode.anomalies));
        setText(severity, format.severity(episode.peak_severity));
        setGrade(grade, episode.grade);
        row.setAttribute("aria-current", episode === current);
    });
}

export function renderTable() {
    if (!$("table").open || !points)
        return;
    const names = Object.keys(points.values).slice(0, COLUMNS_AT_MOST);
    const titles = ["Row", "Time", "Score", "Threshold", "Grade", ...names.map(name => format.short(name, 40))];
    const header = el("tr", {}, ...titles.map(title => el("th", { scope: "col", textContent: title })));
    $("row-table").tHead.replaceChildren(header);
    const last = points.rows.map((_, i) => i).slice(-TABLE_ROWS).reverse();
    fill($("row-table").tBodies[0], last, () => el("tr"), (row, i) => {
        const cells = [format.count(points.rows[i]), format.time(points.times[i], true), format.score(points.scores[i]),
                       format.score(points.thresholds[i]), GRADES[points.grades[i]] ?? "",
                       ...names.map(name => format.number(points.values[name][i]))];
        fill(row, cells, () => el("td"), setText);
    });
}

// ---- All of it ----

function renderDetail() {
    prepare();
    const hasRows = points.rows.length > 0;
    show($("score-figure"), hasRows);
    show($("table"), hasRows);
    renderState();
    showEpisode(of, currentEpisode() ?? null);
    renderEpisodes();
    if (!hasRows)
        return show($("columns"), false);
    $("score-chart").setAttribute("aria-label", describeScores());
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

export function startDetail() {
    follow($("score-chart"));
    new ResizeObserver(redraw).observe($("detail"));
    $("cursor").oninput = event => moveCursor(Number(event.target.value));
    $("columns-more").onclick = showAllColumns;
    $("table").ontoggle = renderTable;
}
