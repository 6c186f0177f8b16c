// The page of `oif eval --report`: words, tables and charts of what the program has measured, which is in the page as JSON.
import { axisOf, draw, rangeWithBand, readColours } from "./chart.js";
import { $, el } from "./dom.js";
import * as format from "./format.js";

const CURVES = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"];
const report = JSON.parse($("data").textContent), best = report.detectors[0], page = el("main");
const charts = []; // [canvas, what it shows]
const add = (...parts) => page.append(...parts);
const dim = text => el("p", { className: "dim", textContent: text });
const plural = (n, word) => `${format.count(n)} ${word}${n === 1 ? "" : "s"}`;

format.setZone("UTC");

// "unknown", "1,234", "0.123"
function number(x) {
    if (x == null)
        return "unknown";
    return Number.isInteger(x) || Math.abs(x) >= 1000 ? format.count(x) : String(Number(x.toPrecision(3)));
}

// "2026-11-15 19:05" of a row with a time, otherwise "row 1,234".
function place(seconds, row) {
    const date = new Date(seconds * 1000);
    return seconds == null || Number.isNaN(date.getTime()) ? `row ${format.count(row)}`
        : date.toISOString().slice(0, -8).replace("T", " ");
}

function chart(label, shown, properties = {}) {
    const canvas = el("canvas", properties);
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", label);
    charts.push([canvas, { spans: [], marks: [], gap: Infinity, ...shown }]);
    return canvas;
}

function legends(items) {
    return el("div", { className: "legends" }, ...items.map(([key, text, colour]) => {
        const sign = el("i", { className: key });
        if (colour)
            sign.style.color = `var(--${colour})`;
        return el("span", { className: "legend" }, sign, text);
    }));
}

// Where rows are labelled: from the first to the last of each stretch.
function labelledSpans(labelled, x) {
    const spans = [];
    labelled.forEach((is, i) => {
        if (is && i > 0 && labelled[i - 1])
            spans[spans.length - 1].to = x[i];
        else if (is)
            spans.push({ from: x[i], to: x[i], shade: "label" });
    });
    return spans;
}

// ---- Words ----

function setting() {
    const keys = report.has_keys ? `, ${format.count(report.keys)} keys` : "";
    const runs = report.runs > 1 ? ` Numbers are means of ${report.runs} runs, pictures show the first one.` : "";
    return el("p", {}, `${report.detectors.length > 1 ? "Best of several detectors:" : "Detector"} ${best.name}, alerts by `,
              el("code", { textContent: report.alerts_by }), `. ${format.count(report.rows)} rows, ${report.columns} columns${keys}, ${
              place(report.times[0], 1)} to ${place(report.times[1], report.rows)}.${runs}`);
}

function answers() {
    const { mean } = best, all = report.labelled_episodes, percent = share => `${(100 * share).toFixed(1)}%`;
    const delay = report.is_timed ? `${report.median_delay}, ` : "";
    const [rate, per] = report.is_timed ? [mean.false_per_day, "day"] : [mean.false_per_1000_rows, "1,000 rows"];
    return [
        ["How many anomalies were found?",
         `${number(mean.found)} of ${number(all)} labelled episodes (${Math.round(all > 0 ? 100 * mean.found / all : 0)}%)`],
        ["How late?", mean.median_delay_rows == null ? "nothing was found"
            : `${delay}${number(mean.median_delay_rows)} rows after the first labelled row (median)`],
        ["How many false alerts?", `${number(mean.false_episodes)} episodes without a labelled row: ${number(rate)} per ${per}`],
        ["How many alerts in all?", `${number(mean.alerts)} rows, in ${number(mean.episodes)} episodes`],
        mean.precision != null && ["How many of these rows are labelled?", `${percent(mean.precision)} (precision)`],
        mean.recall != null && ["How many labelled rows are alerts?", `${percent(mean.recall)} (recall)`],
        ["When could it alert?",
         `after ${number(mean.rows_not_ready)} rows; ${number(mean.labelled_episodes_not_ready)} labelled episodes lie before that`],
        mean.roc_auc != null && ["How well do scores separate?",
            `ROC AUC ${mean.roc_auc.toFixed(4)}, average precision ${mean.average_precision.toFixed(4)}`],
    ].filter(Boolean);
}

function showSummary() {
    document.title = `oif eval: ${format.short(report.name)}`;
    add(el("h1", { textContent: format.short(report.name, 400) }), setting());
    add(el("table", { className: "answers" }, ...answers().map(([question, answer]) =>
        el("tr", {}, el("th", { scope: "row", textContent: question }), el("td", { textContent: answer })))));
}

// ---- Detectors ----

// A number with a bar: its share of the largest.
function meter(value, spread, largest, className) {
    const cell = el("td", { className: "meter" }, number(value));
    if (spread != null)
        cell.append(el("span", { className: "dim", textContent: ` ± ${Number(spread.toPrecision(2))}` }));
    if (value != null) {
        const bar = el("div", { className });
        bar.style.width = `${largest > 0 ? 100 * value / largest : 0}%`;
        cell.append(bar);
    }
    return cell;
}

function showDetectors() {
    const rate = report.is_timed ? "false_per_day" : "false_per_1000_rows";
    const most = Math.max(...report.detectors.map(({ mean }) => mean[rate] ?? 0));
    const columns = [["found", "found", report.labelled_episodes], [`false per ${report.is_timed ? "day" : "1,000 rows"}`, rate, most],
                     ["precision", "precision", 1], ["recall", "recall", 1], ["ROC AUC", "roc_auc", 1],
                     ["average precision", "average_precision", 1]];
    const titles = ["detector", ...columns.map(([title]) => title)];
    add(el("h2", { textContent: "Detectors" }),
        dim(`The best first: by labelled episodes found (of ${report.labelled_episodes}), then by false alerts, then by average ` +
            `precision.${report.runs > 1 ? " ± is the standard deviation of the runs." : ""}`),
        el("div", { className: "scroll", tabIndex: 0 }, el("table", {},
            el("tr", {}, ...titles.map(title => el("th", { scope: "col", textContent: title }))),
            ...report.detectors.map(({ name, mean, spread }) => el("tr", {}, el("th", { scope: "row", textContent: name }),
                ...columns.map(([, measure, largest]) =>
                    meter(mean[measure], spread[measure], largest, measure === rate ? "bar false" : "bar")))))));
}

// ---- Severities ----

// A few rows can be many times as severe as the threshold. Those are drawn at the edge, or nothing else could be seen.
function severityRange({ high, threshold }) {
    const finite = list => list.filter(x => x != null);
    const top = Math.max(1, ...finite(high), ...finite(threshold)), cut = 4 * Math.max(1, ...finite(threshold));
    return { range: [0, Math.min(top, cut)], isCut: top > cut };
}

function showSeverities() {
    const { seconds, low, high, threshold, hit, wrong, labelled } = report.severities;
    const axis = axisOf(seconds, low.map((_, i) => Math.floor(report.rows * i / low.length) + 1));
    const { range, isCut } = severityRange(report.severities), isAlone = report.keys === 1;
    const marksOf = (list, mark) => list.map((y, i) => ({ x: axis.x[i], y, ...mark })).filter(({ y }) => y != null);
    const severities = { x: axis.x.flatMap(x => [x, x]), y: high.flatMap((y, i) => [y, low[i]]) };
    add(el("h2", { textContent: "Severity over time" }),
        dim(`Higher is rarer. ${axis.isTime ? "Times are UTC." : "Rows are in their order."}`),
        chart("Severity of all rows, with labelled rows and alerts", {
            ...axis, range, spans: labelledSpans(labelled, axis.x),
            marks: [...marksOf(wrong), ...marksOf(hit, { colour: "calm", isDot: true })],
            lines: isAlone ? [{ y: threshold, dashed: true }, severities] : [severities],
        }, { className: "tall" }),
        legends([["key-score", "severity, lowest to highest"], ["key-label", "labelled rows"], ["key-hit", "alert, labelled"],
                 ["key-alert", "alert, not labelled"], ...isAlone ? [["key-limit", "threshold"]] : []]),
        dim(`A row above the threshold is an alert.${isCut ? " Severities beyond the top are drawn at the edge." : ""}${
            isAlone ? "" : " Each key has its own threshold."}`));
}

// ---- Episodes ----

function describe(one) {
    const delay = one.kind !== "found" ? "" : one.delay_rows === 0 ? "Alert in its first row. "
        : `Alert after ${plural(one.delay_rows, "row")}${one.delay && `, ${one.delay}`}. `;
    if (one.reasons)
        return `${delay}Severity ${one.severity.toFixed(1)}: ${one.reasons.map(({ column, text, share }) =>
            `${format.short(column)} ${format.sentence(text)}${share < 0.995 ? ` ${Math.round(100 * share)}%` : ""}`).join("; ")}`;
    return one.was_ready ? `No alert; the highest severity is ${format.severity(one.highest)}. Below: what changed most.`
        : "It lies before the detector was ready.";
}

// A band for each row, from the rows on from which it lasts.
function bandOf(changes, count) {
    const band = Array(count).fill(null);
    changes.forEach(([from, low, high], i) => band.fill(low == null ? null : [low, high], from, changes[i + 1]?.[0] ?? count));
    return band;
}

// The row whose expected values are written: the first alert, or else the first row of the episode.
function expectedAt({ rows, alerts, first, last }) {
    const alert = rows.findIndex((row, i) => alerts[i] && row >= first && row <= last);
    return alert >= 0 ? alert : rows.indexOf(first);
}

function card(one) {
    const axis = axisOf(one.seconds, one.rows), spans = labelledSpans(one.labelled, axis.x), last = one.rows.length - 1;
    const began = one.seconds[one.rows.indexOf(one.first)];
    const where = [one.key && format.short(one.key), began != null && place(began),
                   one.first === one.last ? `row ${format.count(one.first)}`
                       : `rows ${format.count(one.first)} to ${format.count(one.last)}`];
    const columns = one.columns.flatMap(({ name, values, expected }) => {
        const band = bandOf(expected, values.length);
        const marks = values.map((y, i) => ({ x: axis.x[i], y, ...one.labelled[i] && { colour: "calm", isDot: true } }));
        const numbers = values.filter(y => y != null), [low, high] = [Math.min(...numbers), Math.max(...numbers)];
        const ends = band[expectedAt(one)], words = ends ? `, expected ${ends.map(format.number).join(" to ")}` : "";
        const range = low <= high ? ` ${format.number(low)} to ${format.number(high)}${words}` : "";
        return [el("h4", {}, format.short(name), el("span", { className: "dim", textContent: range })),
                chart(`Column ${format.short(name)} around this episode`,
                      { ...axis, name, spans, band, range: rangeWithBand(values, band), marks: marks.filter((_, i) => one.alerts[i]),
                        lines: [{ y: values }] })];
    });
    return el("div", { className: "card" },
              el("h3", {}, el("span", { className: `badge ${one.kind}`, textContent: one.kind }), ` ${where.filter(Boolean).join(", ")}`),
              dim(describe(one)), ...columns,
              dim(`${place(one.seconds[0], one.rows[0])} to ${place(one.seconds[last], one.rows[last])}`));
}

function showEpisodes() {
    if (report.episodes.length)
        add(el("h2", { textContent: "Episodes" }),
            dim(`${report.found} found, ${report.missed} missed, ${report.false} false; here the worst of each. ` +
                "Shaded: labelled rows. Dots: alerts that are labelled; triangles: those that are not."),
            legends([["key-band", "expected"]]),
            el("div", { className: "cards" }, ...report.episodes.map(card)));
}

// ---- Curves ----

// Of the rows with at least some score, of which some are labelled: a point of each curve.
const rocPoint = (rows, labelled) => [(rows - labelled) / (report.rows - report.anomalies), labelled / report.anomalies];
const recallPoint = (rows, labelled) => [labelled / report.anomalies, labelled / rows];

function curveChart(title, below, beside, pointOf, start, chance) {
    const lines = report.detectors.map(({ curve }, i) => {
        const points = [...start, ...curve.map(([rows, labelled]) => pointOf(rows, labelled))];
        return { x: points.map(([x]) => x), y: points.map(([, y]) => y), colour: CURVES[i % CURVES.length] };
    });
    const marks = report.detectors.map(({ first_run: { alerts, precision } }, i) => {
        const [x, y] = alerts > 0 ? pointOf(alerts, Math.round(alerts * precision)) : [];
        return { x, y, colour: lines[i].colour, isDot: true };
    }).filter(({ x }) => x != null);
    lines.push({ y: chance, colour: "dim", dashed: true });
    return el("div", { className: "card" }, el("h3", { textContent: title }), dim(`up: ${beside}`),
              chart(title, { x: [0, 1], isShare: true, range: [0, 1], lines, marks }), dim(`to the right: ${below}`));
}

function showCurves() {
    if (report.anomalies === 0 || report.anomalies === report.rows)
        return;
    const share = report.anomalies / report.rows;
    add(el("h2", { textContent: "At every threshold" }), el("div", { className: "pair" },
        curveChart("ROC curve", "share of the other rows at least as high", "share of labelled rows found", rocPoint, [[0, 0]], [0, 1]),
        curveChart("Precision and recall", "recall: share of labelled rows found", "precision: labelled share of the rows",
                   recallPoint, [], [share, share])),
        legends([...report.detectors.map(({ name }, i) => ["key-curve", name, CURVES[i % CURVES.length]]),
                 ["key-chance", "chance"]]),
        dim("Dot: the alerts as they were."));
}

// ---- The whole ----

let colours = null;

function drawAll() {
    colours ??= readColours(["label", ...CURVES]);
    for (const [canvas, shown] of charts)
        draw(canvas, shown, colours);
}

showSummary();
if (report.detectors.length > 1)
    showDetectors();
showSeverities();
showEpisodes();
showCurves();
add(el("footer", { className: "dim" }, `Written by oif ${report.version}. Definitions: `, el("code", { textContent: "oif eval" }),
       " in the manual, page evaluate.md."));
document.body.prepend(page);
new ResizeObserver(drawAll).observe(page);
matchMedia("(prefers-color-scheme: dark)").onchange = () => {
    colours = null;
    drawAll();
};
