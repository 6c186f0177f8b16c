// A line chart on a canvas: gaps, shaded spans, a band of what was expected, a dashed limit, marks and a cursor.
//
// Many points: each pixel column draws the range of its points, so 10^4 points cost one pass and
// no outlier is lost. Drawn here rather than by a library because shading, gaps and a cursor that
// all charts share are most of what the page needs, and nothing has to be installed.
import * as format from "./format.js";

const LEFT = 52, RIGHT = 8, TOP = 8, BOTTOM = 18;

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

// Ticks of the step for that many, or of a smaller one: a single tick does not show a scale.
function someTicks(low, high, stepOf, wanted, offset = 0, fits = () => true) {
    let step, found = [];
    for (let more = wanted; more < 8 * wanted && found.length < 2; more++) {
        step = stepOf(high - low, more);
        found = ticks(low, high, step, offset).filter(value => fits(value, step));
    }
    return { step, found };
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

// What the axis of values with a band shows. A band that is much wider than the values, or very far from them, is cut. So
// are few values that are so far outside the band that nothing else could be seen: these are drawn at the edge.
export function rangeWithBand(values, band) {
    const farBands = 20, besideShare = 0.4, awayShare = 3;
    const known = values.filter(y => y != null && Number.isFinite(y)).sort((a, b) => a - b);
    if (!known.length || !band.some(Boolean))
        return rangeOf([values]);
    const [bottom, top] = rangeOf([band.flatMap(ends => ends ?? [])]), height = top - bottom;
    const usual = share => known[Math.round(share * (known.length - 1))];
    let low = known[0], high = known[known.length - 1];
    if (height > 0) {
        low = Math.max(low, Math.min(bottom - farBands * height, usual(0.05)));
        high = Math.min(high, Math.max(top + farBands * height, usual(0.95)));
    }
    const beside = (high > low ? high - low : Infinity) * (bottom > high || top < low ? awayShare : besideShare);
    return [Math.min(low, Math.max(bottom, low - beside)), Math.max(high, Math.min(top, high + beside))];
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

const COLOURS = ["ink", "dim", "grid", "line", "alarm", "calm", "shade", "shade-strong", "card", "band", "band-edge", "spread", "past"];

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

// A range that is being chosen with the pointer.
function drawSelection(pen, selection, toX, height, colours) {
    const [from, to] = selection.map(toX);
    pen.fillStyle = colours.band;
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1;
    pen.fillRect(from, TOP, to - from, height - TOP - BOTTOM);
    pen.strokeRect(from, TOP, to - from, height - TOP - BOTTOM);
}

// Stretches of the band without a gap, as corners of its steps: [x, low, high].
function bandStretches(x, band, gap) {
    const stretches = [];
    let corners = null;
    for (let i = 0; i < x.length; i++) {
        const ends = band[i], isNext = corners && x[i] - x[i - 1] <= gap;
        if (!ends || !isNext)
            corners = null;
        if (!ends)
            continue;
        if (!corners)
            stretches.push(corners = [[x[i], ...ends]]);
        const [, low, high] = corners[corners.length - 1];
        if (low !== ends[0] || high !== ends[1]) {
            const middle = (x[i - 1] + x[i]) / 2;
            corners.push([middle, low, high], [middle, ...ends]);
        }
        if (i + 1 === x.length || !band[i + 1] || x[i + 1] - x[i] > gap)
            corners.push([x[i], ...ends]);
    }
    return stretches;
}

// What is beyond the axis is not drawn, nor is its edge.
function drawBand(pen, x, band, { toX, toY, low, high }, gap, colours) {
    pen.fillStyle = colours.band;
    pen.strokeStyle = colours["band-edge"];
    pen.lineWidth = 1;
    for (const corners of bandStretches(x, band, gap)) {
        const edges = [1, 2].map(end => corners.map(corner => [toX(corner[0]), toY(corner[end])]));
        pen.beginPath();
        for (const [px, py] of [...edges[0], ...[...edges[1]].reverse()])
            pen.lineTo(px, py);
        pen.fill();
        edges.forEach((edge, end) => {
            pen.beginPath();
            edge.forEach(([px, py], i) => {
                const isShown = corners[i][end + 1] >= low && corners[i][end + 1] <= high;
                pen[isShown ? "lineTo" : "moveTo"](px, py);
            });
            pen.stroke();
        });
    }
}

function drawSpans(pen, spans, toX, height, colours) {
    for (const span of spans) {
        const from = toX(span.from) - 1.5, width = Math.max(3, toX(span.to) - from + 1.5);
        pen.fillStyle = colours[span.shade ?? (span.chosen ? "shade-strong" : span.past ? "past" : "shade")];
        pen.fillRect(from, TOP, width, height - TOP - BOTTOM);
        pen.fillStyle = colours[span.shade ?? (span.past && !span.chosen ? "dim" : "alarm")]; // a bar as well: never by colour alone
        pen.fillRect(from, TOP - 4, width, span.chosen ? 4 : 2);
    }
}

// The stretches of a line that need a look, also single points.
function drawStrong(pen, x, y, toX, toY, gap, colours) {
    pen.strokeStyle = colours.alarm;
    pen.lineWidth = 3.5;
    pen.lineCap = "round";
    drawLine(pen, x, y, toX, toY, gap);
    pen.lineCap = "butt";
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

// With the unit of the column, if each of them then still fits beside the axis.
function valueTexts(pen, values, { low, high, name }) {
    const rounded = values.map(y => Math.abs(y) < (high - low) * 1e-9 ? 0 : y), room = LEFT - 8;
    const texts = rounded.map(y => format.quantity(y, name ?? ""));
    return texts.every(text => pen.measureText(text).width <= room) ? texts : rounded.map(format.number);
}

function drawGrid(pen, frame, view, colours) {
    const { width, height } = frame, { low, high, toY, toX, from, to } = view;
    pen.font = "11px system-ui, sans-serif";
    pen.strokeStyle = colours.grid;
    pen.lineWidth = 1;
    pen.fillStyle = colours.dim;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    const values = someTicks(low, high, niceStep, height > 250 ? 6 : height > 130 ? 4 : 3).found, texts = valueTexts(pen, values, view);
    for (const [i, y] of values.entries()) {
        const py = Math.round(toY(y)) + 0.5;
        pen.beginPath();
        pen.moveTo(LEFT, py);
        pen.lineTo(width - RIGHT, py);
        pen.stroke();
        pen.fillText(texts[i], LEFT - 6, py);
    }
    pen.textBaseline = "alphabetic";
    const wanted = Math.max(1, Math.floor((width - LEFT) / (view.isShare ? 48 : 72)));
    const rowStep = (range, count) => Math.max(view.isShare ? 0 : 1, niceStep(range || 1, count));
    const textOf = (x, step) => view.isTime ? format.tick(x, step) : view.isShare ? format.number(x) : `row ${format.count(x)}`;
    const fits = (x, step) => {
        const half = pen.measureText(textOf(x, step)).width / 2, px = toX(x);
        return px - half > LEFT - 8 && px + half < width;
    };
    const { step, found } = someTicks(from, to, view.isTime ? timeStep : rowStep, wanted, view.isTime ? format.utcOffset(from) : 0, fits);
    pen.textAlign = "center";
    for (const x of found)
        pen.fillText(textOf(x, step), toX(x), height - 4);
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

// shown: { x, name, domain: [from, to], isTime, isShare, gap, range: [low, high], lines: [{ x, y, colour, dashed }], spread: [[low, high] or null], selection: [from, to],
//          band: [[low, high] or null], strong: [y or null], spans: [{ from, to, chosen, past, shade }], marks: [{ x, y, colour, isDot }], cursor: i }
// The first line is on top, and the cursor is on it. A line may have its own x. The spread is drawn around it. Without a
// domain the axis is that of x. Without a range it is that of the lines;
// what is beyond it is drawn at the edge. The name of a column says its unit. Colours are names of those that were read.
export function draw(canvas, shown, colours) {
    const frame = prepare(canvas);
    if (frame.width < LEFT + RIGHT + 10 || !shown.x.length)
        return;
    const { pen, width, height } = frame, { x, name, isTime, isShare } = shown;
    const [low, high] = withMargin(shown.range ?? rangeOf(shown.lines.map(line => line.y)));
    const [from, last] = shown.domain ?? [x[0], x[x.length - 1]], to = Math.max(last, from + 1e-9);
    const toX = value => LEFT + (value - from) / (to - from) * (width - LEFT - RIGHT);
    const share = value => Math.min(Math.max((value - low) / (high - low), 0), 1);
    const toY = value => height - BOTTOM - share(value) * (height - TOP - BOTTOM);
    const view = { low, high, from, to, toX, toY, name, isTime, isShare };

    drawSpans(pen, shown.spans, toX, height, colours);
    drawGrid(pen, frame, view, colours);
    if (shown.band)
        drawBand(pen, x, shown.band, view, shown.gap, colours);
    if (shown.spread)
        drawBand(pen, x, shown.spread, view, shown.gap, { band: colours.spread, "band-edge": colours.spread });
    pen.lineJoin = "round";
    for (const line of [...shown.lines].reverse()) {
        pen.strokeStyle = colours[line.colour ?? (line.dashed ? "ink" : "line")];
        pen.lineWidth = line.dashed ? 1.2 : 1.5;
        pen.setLineDash(line.dashed ? [5, 4] : []);
        drawLine(pen, line.x ?? x, line.y, toX, toY, shown.gap);
    }
    pen.setLineDash([]);
    if (shown.strong)
        drawStrong(pen, x, shown.strong, toX, toY, shown.gap, colours);
    drawMarks(pen, shown.marks, view, colours);
    drawCursor(pen, frame, view, shown, colours);
    if (shown.selection)
        drawSelection(pen, shown.selection, toX, height, colours);
}

// The value on the x axis at a place on the canvas.
export function valueAt(canvas, [from, to], clientX) {
    const box = canvas.getBoundingClientRect();
    const share = (clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
    return from + Math.min(Math.max(share, 0), 1) * (to - from);
}

// The point nearest to a value.
export function nearest(x, wanted) {
    let low = 0, high = x.length - 1;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (x[middle] < wanted) low = middle + 1; else high = middle;
    }
    return low > 0 && wanted - x[low - 1] < x[low] - wanted ? low - 1 : low;
}
