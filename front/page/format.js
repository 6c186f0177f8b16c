// Numbers, times and sentences as the page shows them.

const grouped = new Intl.NumberFormat("en");
let shownZone = "local";

export const setZone = name => { shownZone = name; };
export const zone = () => shownZone;
export const count = n => n == null ? "–" : grouped.format(Math.round(n));

// Four significant digits, with k, M, G for large numbers: columns of numbers stay narrow.
export function number(x) {
    if (x == null || Number.isNaN(x))
        return "–";
    const size = Math.abs(x);
    if (size >= 1e15 || (size < 1e-4 && size > 0))
        return x.toExponential(2);
    for (const [unit, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"]])
        if (size >= unit)
            return trimmed((x / (unit === 1e4 ? 1e3 : unit)).toPrecision(4)) + letter;
    return trimmed(x.toPrecision(4));
}

// What a column's name says about its unit: "latency_ms", "node_memory_bytes", "temp [°C]".
const UNITS = { ns: "ns", us: "µs", ms: "ms", milliseconds: "ms", s: "s", sec: "s", secs: "s", seconds: "s", bytes: "B", kb: "kB", mb: "MB", gb: "GB",
                percent: "%", pct: "%", celsius: "°C", fahrenheit: "°F", hz: "Hz", mhz: "MHz", ghz: "GHz", volts: "V", amperes: "A", amps: "A", watts: "W",
                kw: "kW", kwh: "kWh", joules: "J", meters: "m", metres: "m", bar: "bar", rpm: "rpm", bps: "bit/s" };

export function unit(name) {
    const written = /[([]([^\])]{1,8})[\])]\s*$/.exec(name), last = /_([a-z]+?)(?:_total)?$/i.exec(name);
    return written ? written[1].trim() : last ? UNITS[last[1].toLowerCase()] ?? "" : "";
}

// "4.02 GB", "62.1 ms"; without a unit, just the number.
export function quantity(x, name) {
    const [, digits, letter] = /^(.*?)([kMGT]?)$/.exec(number(x));
    return x == null || !unit(name) ? digits + letter : `${digits} ${letter}${unit(name)}`;
}

// "12 s", "5 min", "3 h", "2 d": about how long.
export function duration(seconds) {
    if (seconds == null)
        return "–";
    for (const [size, name] of [[172800, "d"], [7200, "h"], [120, "min"]])
        if (seconds >= size)
            return `${Math.round(seconds / { d: 86400, h: 3600, min: 60 }[name])} ${name}`;
    return `${Math.round(seconds)} s`;
}

const trimmed = text => text.includes(".") && !text.includes("e") ? text.replace(/\.?0+$/, "") : text;

export const score = x => x == null ? "–" : x.toFixed(3);

// As in the server's own texts: one digit behind the point, and none if it is 0.
export const severity = x => x == null ? "–" : trimmed(x.toFixed(1));

export function bytes(n) {
    if (n == null)
        return "–";
    for (const [unit, name] of [[2 ** 30, "GB"], [2 ** 20, "MB"], [2 ** 10, "kB"]])
        if (n >= unit)
            return trimmed((n / unit).toPrecision(3)) + " " + name;
    return n + " B";
}

export function rate(x) {
    if (x == null)
        return "–";
    return x >= 100 ? count(x) : trimmed(x.toFixed(1));
}

// ---- Times: seconds since 1970 ----

function parts(seconds) {
    const date = new Date(seconds * 1000);
    const at = shownZone === "UTC" ? new Date(date) : new Date(date - date.getTimezoneOffset() * 60000);
    const iso = Number.isNaN(at.getTime()) ? "" : at.toISOString();
    return { day: iso.slice(0, 10), minute: iso.slice(11, 16), second: iso.slice(11, 19) };
}

// The day is left out if it is today, unless it is asked for.
export function time(seconds, withSeconds = false, withDay = false) {
    if (seconds == null)
        return "–";
    const { day, minute, second } = parts(seconds);
    const clock = withSeconds ? second : minute;
    return day === parts(Date.now() / 1000).day && !withDay ? clock : `${day} ${clock}`;
}

// The second of two times, without its day if that is the day of the first.
export const endTime = (from, to) => parts(from).day === parts(to).day ? parts(to).minute : time(to, false, true);

// What a chart writes below itself: as little as tells two ticks apart.
export function tick(seconds, step) {
    const { day, minute, second } = parts(seconds);
    if (step >= 86400)
        return step >= 20 * 86400 ? day.slice(0, 7) : day.slice(5);
    return step >= 60 ? (minute === "00:00" ? day.slice(5) : minute) : second;
}

export function utcOffset(seconds) {
    return shownZone === "UTC" ? 0 : -new Date(seconds * 1000).getTimezoneOffset() * 60;
}

// ---- Sentences ----

// "since 12:15, 14 rows, severity 3": what follows the reason of an episode.
export function since(episode) {
    const start = episode.began == null ? `row ${count(episode.first_row)}` : time(episode.began);
    const rows = `${count(episode.rows)} ${episode.rows === 1 ? "row" : "rows"}`;
    return `since ${start}, ${rows}, severity ${severity(episode.peak_severity)}`;
}

// What cannot be seen or turns the direction of the text is written as an escape.
export const visible = text => text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    c => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

// A name may have 64 KB; nobody reads that.
export const short = (text, limit = 80) =>
    visible(text.length > limit ? `${text.slice(0, limit - 1)}…` : text);

// A sentence has a name in it, or two.
export const sentence = text => short(text, 160);
export const reason = episode => sentence(episode.reason || "anomalous");
