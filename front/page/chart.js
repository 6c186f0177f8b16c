// A line chart on a canvas: gaps, shaded spans, a dashed limit, marks and a cursor.
//
// Many points: each pixel column draws the range of its points, so 10^4 points cost one pass and
// no outlier is lost. Drawn here rather than by a library because shading, gaps and a cursor that
// all charts share are most of what the page needs, and nothing has to be installed.
import * as format from "./format.js";

const LEFT = 46, RIGHT = 8, TOP = 8, BOTTOM = 18;

// ---- Scales ----

function niceStep(range, wanted) {
    const rough = range / wanted, power = 10 ** Math.floor(Math.log10(rough));
    return power * ([1, 2, 5].find(factor => factor * power >= rough) ?? 10);
}

const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600,
                    43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000];

function timeStep(range, wanted) {
    return TIME_STEPS.find(step => step >= range / wanted) ?? niceStep(range, wanted);
}

function ticks(low, high, step, offset = 0) {
    const found = [];
    for (let i = Math.ceil((low + offset) / step); i * step - offset <= high && found.length < 50; i++)
        found.push(i * step - offset);
    return found;
}

function rangeOf(lists) {
    let low = Infinity, high = -Infinity;
    for (const list of lists)
        for (const y of list)
            if (y != null && Number.isFinite(y)) {
                if (y < low) low = y;
                if (y > high) high = y;
            }
    return low > high ? [0, 1] : [low, high];
}

function withMargin([low, high]) {
    const margin = (high - low || Math.abs(high) || 1) * 0.08;
    return [low - margin, high + margin];
}

// Where the line is interrupted: a pause much longer than is usual.
function gapLimit(x) {
    if (x.length < 8)
        return Infinity;
    const every = Math.max(1, Math.floor(x.length / 200)), steps = [];
    for (let i = 1; i < x.length; i += every)
        steps.push(x[i] - x[i - 1]);
    steps.sort((a, b) => a - b);
    const usual = steps[Math.floor(steps.length / 2)];
    return usual > 0 ? 8 * usual : Infinity;
}

// The x axis is the time where rows have one and it rises, else the number of the row.
export function axisOf(times, rows) {
    const isTime = times.length > 1 && times.every((t, i) => t != null && (i === 0 || t >= times[i - 1])) &&
                   times[times.length - 1] > times[0];
    return { x: isTime ? times : rows, isTime, gap: isTime ? gapLimit(times) : Infinity };
}

// ---- Drawing ----

const probe = document.createElement("span");
probe.hidden = true;

function colour(name) {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
}

const COLOURS = ["ink", "dim", "grid", "line", "alarm", "calm", "shade", "shade-strong", "card"];

// Those that every chart has, and others by name.
export function readColours(others = []) {
    document.body.append(probe);
    return Object.fromEntries([...COLOURS, ...others].map(name => [name, colour(name)]));
}

// The canvas has as many dots as the screen, and all sizes below are in CSS pixels.
function prepare(canvas) {
    const scale = devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    const columns = Math.round(width * scale), lines = Math.round(height * scale);
    if (canvas.width !== columns || canvas.height !== lines)
        Object.assign(canvas, { width: columns, height: lines });
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, 0, width, height);
    return { pen, width, height };
}

function drawLine(pen, x, y, toX, toY, gap) {
    pen.beginPath();
    let column = NaN, low = 0, high = 0, last = 0, down = true, before = NaN;
    const flush = () => {
        if (Number.isNaN(column))
            return;
        if (high > low) { // in the order that leads to the last point
            pen.lineTo(column, last === low ? high : low);
            pen.lineTo(column, last === low ? low : high);
        }
        pen.lineTo(column, last);
    };
    for (let i = 0; i < x.length; i++) {
        const missing = y[i] == null || !Number.isFinite(y[i]);
        if (missing || x[i] - before > gap) {
            flush();
            column = NaN;
            down = true;
        }
        before = x[i];
        if (missing)
            continue;
        const px = Math.round(toX(x[i]) * 2) / 2, py = toY(y[i]);
        if (px === column) {
            if (py < low) low = py;
            if (py > high) high = py;
            last = py;
            continue;
        }
        flush();
        if (down) {
            pen.moveTo(px, py);
            pen.lineTo(px + 0.01, py); // a point between two gaps is visible too
            down = false;
        }
        column = px;
        low = high = last = py;
    }
    flush();
    pen.stroke();
}

function drawSpans(pen, spans, toX, height, colours) {
    for (const span of spans) {
        const from = toX(span.from) - 1.5, width = Math.max(3, toX(span.to) - from + 1.5);
        pen.fillStyle = colours[span.shade ?? (span.chosen ? "shade-strong" : "shade")];
        pen.fillRect(from, TOP, width, height - TOP - BOTTOM);
        pen.fillStyle = colours[span.shade ?? "alarm"]; // a bar as well: never by colour alone
        pen.fillRect(from, TOP - 4, width, span.chosen ? 4 : 2);
    }
}

// Dots, or triangles. One without a value is at the bottom.
function drawMarks(pen, marks, { toX, toY, low }, colours) {
    const before = {};
    for (const mark of marks) {
        const px = toX(mark.x), py = toY(mark.y ?? low), name = mark.colour ?? "alarm";
        if (px - before[name] < 2 && marks.length > 400)
            continue;
        before[name] = px;
        pen.fillStyle = colours[name];
        pen.beginPath();
        if (mark.isDot) {
            pen.arc(px, py, 3.5, 0, 7);
        } else {
            pen.moveTo(px, py - 4);
            pen.lineTo(px + 3.6, py + 2.6);
            pen.lineTo(px - 3.6, py + 2.6);
        }
        pen.fill();
    }
}

function drawGrid(pen, frame, view, colours) {
    const { width, height } = frame, { low, high, toY, toX, from, to } = view;
    pen.font = "11px system-ui, sans-serif";
    pen.strokeStyle = colours.grid;
    pen.lineWidth = 1;
    pen.fillStyle = colours.dim;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const y of ticks(low, high, niceStep(high - low, height > 250 ? 6 : height > 130 ? 4 : 3))) {
        const py = Math.round(toY(y)) + 0.5;
        pen.beginPath();
        pen.moveTo(LEFT, py);
        pen.lineTo(width - RIGHT, py);
        pen.stroke();
        pen.fillText(format.number(Math.abs(y) < (high - low) * 1e-9 ? 0 : y), LEFT - 6, py);
    }
    pen.textBaseline = "alphabetic";
    const wanted = Math.max(1, Math.floor((width - LEFT) / (view.isShare ? 48 : 72)));
    const step = view.isTime ? timeStep(to - from, wanted)
        : Math.max(view.isShare ? 0 : 1, niceStep(to - from || 1, wanted));
    for (const x of ticks(from, to, step, view.isTime ? format.utcOffset(from) : 0)) {
        const text = view.isTime ? format.tick(x, step) : view.isShare ? format.number(x) : format.count(x);
        const half = pen.measureText(text).width / 2, px = toX(x);
        pen.textAlign = "center";
        if (px - half > LEFT - 8 && px + half < width)
            pen.fillText(text, px, height - 4);
    }
}

function drawCursor(pen, frame, view, shown, colours) {
    const i = shown.cursor;
    if (i == null || i >= shown.x.length)
        return;
    const px = Math.round(view.toX(shown.x[i])) + 0.5, y = shown.lines[0].y[i];
    pen.strokeStyle = colours.dim;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(px, TOP);
    pen.lineTo(px, frame.height - BOTTOM);
    pen.stroke();
    if (y == null)
        return;
    pen.fillStyle = colours.card;
    pen.strokeStyle = colours.line;
    pen.lineWidth = 2;
    pen.beginPath();
    pen.arc(px, view.toY(y), 3.5, 0, 7);
    pen.fill();
    pen.stroke();
}

// ---- The chart ----

// shown: { x, isTime, isShare, gap, range: [low, high], lines: [{ x, y, colour, dashed }],
//          spans: [{ from, to, chosen, shade }], marks: [{ x, y, colour, isDot }], cursor: i }
// The first line is on top, and the cursor is on it. A line may have its own x. Without a range it is that of the lines;
// what is beyond it is drawn at the edge. Colours are names of those that were read.
export function draw(canvas, shown, colours) {
    const frame = prepare(canvas);
    if (frame.width < LEFT + RIGHT + 10 || !shown.x.length)
        return;
    const { pen, width, height } = frame, { x, isTime, isShare } = shown;
    const [low, high] = withMargin(shown.range ?? rangeOf(shown.lines.map(line => line.y)));
    const from = x[0], to = Math.max(x[x.length - 1], from + 1e-9);
    const toX = value => LEFT + (value - from) / (to - from) * (width - LEFT - RIGHT);
    const share = value => Math.min(Math.max((value - low) / (high - low), 0), 1);
    const toY = value => height - BOTTOM - share(value) * (height - TOP - BOTTOM);
    const view = { low, high, from, to, toX, toY, isTime, isShare };

    drawSpans(pen, shown.spans, toX, height, colours);
    drawGrid(pen, frame, view, colours);
    pen.lineJoin = "round";
    for (const line of [...shown.lines].reverse()) {
        pen.strokeStyle = colours[line.colour ?? (line.dashed ? "ink" : "line")];
        pen.lineWidth = line.dashed ? 1.2 : 1.5;
        pen.setLineDash(line.dashed ? [5, 4] : []);
        drawLine(pen, line.x ?? x, line.y, toX, toY, shown.gap);
    }
    pen.setLineDash([]);
    drawMarks(pen, shown.marks, view, colours);
    drawCursor(pen, frame, view, shown, colours);
}

// The point nearest to a place on the canvas.
export function indexAt(canvas, x, clientX) {
    const box = canvas.getBoundingClientRect();
    const share = (clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
    const wanted = x[0] + share * (x[x.length - 1] - x[0]);
    let low = 0, high = x.length - 1;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (x[middle] < wanted) low = middle + 1; else high = middle;
    }
    return low > 0 && wanted - x[low - 1] < x[low] - wanted ? low - 1 : low;
}
