// What the charts show of a key, in one form: its latest rows, or buckets of hours and days.
//
//     { x, domain, isTime, gap, times, rows, counts, seconds, severities, thresholds, grades, values, expected, spread }
//
// A bucket has the highest severity, the mean values and their spread, and instead of `rows`, their numbers, `counts` of rows.
// What was expected is known of rows.
import { ask, path } from "./server.js";
import { axisOf } from "./chart.js";

const BUCKETS = 600;

// wanted: { stream, key } with { limit }, { span } or { from, to }
export const isSame = (a, b) => ["stream", "key", "limit", "span", "from", "to"].every(name => a[name] === b[name]);

// ---- Rows ----

// Only the rows since the last one, if their times say which.
function rowsQuery(wanted, known) {
    const last = known?.rows?.length ? known.times[known.times.length - 1] : null;
    return { key: wanted.key, limit: wanted.limit, since: last, expected: true };
}

const append = (list, more, from, limit) => list.concat(more.slice(from)).slice(-limit);

// The server leaves out columns of which it expected nothing.
const bandOf = ({ expected }, name, length) => expected[name] ?? Array(length).fill(null);

function merge(known, fresh, limit) {
    const last = known.rows[known.rows.length - 1], from = fresh.rows.findIndex(row => row > last);
    const names = Object.keys(fresh.values);
    const isOther = names.length !== Object.keys(known.values).length || names.some(name => !known.values[name]);
    if (isOther || !fresh.rows.length || fresh.rows[fresh.rows.length - 1] < last)
        return null;
    if (from >= 0)
        for (const name of ["rows", "times", "severities", "thresholds", "grades"])
            known[name] = append(known[name], fresh[name], from, limit);
    for (const name of from >= 0 ? names : []) {
        const before = known.values[name].length;
        known.values[name] = append(known.values[name], fresh.values[name], from, limit);
        known.expected[name] = append(bandOf(known, name, before), bandOf(fresh, name, fresh.rows.length), from, limit);
    }
    return known;
}

async function askRows(wanted, known) {
    const query = rowsQuery(wanted, known), fresh = await ask(path(wanted.stream, "/points", query));
    const points = query.since == null ? fresh
        : merge(known, fresh, wanted.limit) ?? await ask(path(wanted.stream, "/points", { ...query, since: null }));
    const { x, isTime, gap } = axisOf(points.times, points.rows);
    return Object.assign(points, { x, isTime, gap, domain: [x[0], x[x.length - 1]], spread: {} });
}

// ---- Buckets ----

function usualStep(times) {
    const steps = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
    return steps[steps.length >> 1] ?? 0;
}

const byColumn = (values, get) => Object.fromEntries(Object.entries(values).map(([name, column]) => [name, get(column)]));

function asPoints({ times, seconds, rows, severities, thresholds, grades, values, from, to }, wanted) {
    return { times, seconds, thresholds, grades, rows: null, counts: rows, severities: severities.high, isTime: true,
             x: times.map(time => time + seconds / 2), domain: [wanted.from ?? from, wanted.to ?? to],
             gap: 8 * Math.max(seconds, usualStep(times)), asked: performance.now(),
             values: byColumn(values, column => column.mean),
             expected: {},
             spread: byColumn(values, ({ low, high }) => low.map((value, i) => value == null ? null : [value, high[i]])) };
}

// Buckets of a minute change slowly, and those of a time that is over do not.
const isFresh = ({ seconds, asked }) => performance.now() - asked < Math.min(1000 * seconds / 4, 15000);

async function askBuckets(wanted, known) {
    if (known?.counts && isFresh(known))
        return known;
    const { stream, key, from, to, span } = wanted;
    return asPoints(await ask(path(stream, "/history", { key, from, to, span, points: BUCKETS })), wanted);
}

// known: what was shown of the same before, or null
export const askPoints = (wanted, known) => wanted.limit ? askRows(wanted, known) : askBuckets(wanted, known);

// ---- Episodes and alerts on them ----

function rowPlaces({ rows }, episode) {
    let to = rows.length - 1;
    while (to >= 0 && rows[to] > episode.last_row)
        to--;
    return [rows.findIndex(row => row >= episode.first_row), to];
}

// Where an episode is on the charts; null: nowhere.
export function spanOf(points, episode) {
    const { x, domain } = points;
    if (points.rows) {
        const [from, to] = rowPlaces(points, episode);
        return from >= 0 && to >= from ? { from: x[from], to: x[to] } : null;
    }
    const from = episode.began, to = episode.ended ?? episode.last_seen ?? episode.began;
    return from != null && to >= domain[0] && from <= domain[1] ? { from: Math.max(from, domain[0]), to: Math.min(to, domain[1]) } : null;
}

// The values of a column that are the reason of an alert; the others are null.
export function strongValues(points, name, alerts) {
    const { rows, times, seconds } = points, reasons = new Map();
    for (const { row, time, reasons: own } of alerts) {
        const reason = own?.find(({ column }) => column === name);
        if (reason)
            reasons.set(rows ? row : Math.floor(time / seconds) * seconds, reason);
    }
    return points.values[name].map((value, i) => {
        const reason = reasons.get(rows ? rows[i] : times[i]), ends = points.spread[name]?.[i];
        return !reason ? null : !ends ? value : ends[reason.direction === "low" ? 0 : 1];
    });
}
