// Which stretch of time is shown: the latest rows, the last hours or days, or from one time to another.
import { $, setText, show } from "./dom.js";
import * as format from "./format.js";

const SPANS = { "1h": 3600, "6h": 21600, "1d": 86400, "3d": 259200, "7d": 604800, "30d": 2592000 };
const ROWS = [200, 500, 1000, 4000], SHORTEST = 10;

let latest = "500", fixed = null, page = null; // fixed: { from, to }

// ---- What is asked for ----

export const wantedRange = () => fixed ?? (SPANS[latest] ? { span: SPANS[latest] } : { limit: Number(latest) });
export const isFixed = () => fixed !== null;

const isKnown = name => name in SPANS || ROWS.includes(Number(name));

export function setLatest(name) {
    latest = isKnown(name) ? name : "500";
    fixed = null;
    render();
}

export function setFixed(from, to) {
    const middle = (from + to) / 2, half = Math.max(to - from, SHORTEST) / 2;
    fixed = { from: Math.floor(middle - half), to: Math.ceil(middle + half) };
    render();
}

// ---- In the address ----

const asText = seconds => new Date(seconds * 1000).toISOString().replace(".000Z", "Z");

export function asSeconds(text) {
    const seconds = Date.parse(text ?? "") / 1000;
    return Number.isFinite(seconds) ? seconds : null;
}

export const timeText = asText;
export const rangeParameters = () => fixed ? { from: asText(fixed.from), to: asText(fixed.to) } : { range: latest };

export function takeRange(parameters) {
    const from = asSeconds(parameters.get("from")), to = asSeconds(parameters.get("to"));
    if (from != null && to != null && to > from)
        setFixed(from, to);
    else if (parameters.has("range"))
        setLatest(parameters.get("range"));
}

// ---- The controls ----

// by: how many of its widths it moves; times: how many times as wide it becomes. What was asked for last counts, shown or not yet.
function change(by, times) {
    const shown = page.shownTimes();
    if (!shown)
        return;
    const [from, to] = fixed ? [fixed.from, fixed.to] : shown, width = to - from, middle = (from + to) / 2 + by * width;
    setFixed(middle - width * times / 2, middle + width * times / 2);
    page.onChange();
}

export const moveRange = by => change(by, 1);
export const zoom = times => change(0, times);

// Without a word to the page.
export const followLatest = () => setLatest(latest);

export function showLatest() {
    setLatest(latest);
    page.onLatest();
    page.onChange();
}

function render() {
    show($("range-fixed"), fixed !== null);
    $("limit").value = fixed ? "fixed" : latest;
    show($("latest"), fixed !== null);
}

// "2026-01-01 00:00 – 06:00, a point per minute"
export function renderRange(points) {
    const shown = page.shownTimes();
    for (const id of ["earlier", "later", "zoom-in", "zoom-out"])
        $(id).disabled = !shown;
    const times = shown ? `${format.time(shown[0], false, true)} – ${format.endTime(...shown)}` : "";
    const what = points?.counts ? `, a point per ${format.duration(points.seconds)}` : "";
    const isEmpty = points?.counts && points.times.length === 0;
    setText($("range-note"), isEmpty ? `No rows from ${times.replace("–", "to")}.` : times + what);
}

// given: { shownTimes(): [from, to] or null, onChange, onLatest, remember }
export function startRange(given, first) {
    page = given;
    setLatest(first);
    $("limit").onchange = () => {
        setLatest($("limit").value);
        page.remember("limit", latest);
        page.onChange();
    };
    $("earlier").onclick = () => moveRange(-0.5);
    $("later").onclick = () => moveRange(0.5);
    $("zoom-in").onclick = () => zoom(0.5);
    $("zoom-out").onclick = () => zoom(2);
    $("latest").onclick = showLatest;
}
