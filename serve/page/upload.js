// A file that is dropped on the page becomes a stream: created at once with a key and a time that its
// first lines suggest, posted in batches that end where a record ends, with the numbers of their
// first rows, so a batch that is sent again after a broken connection is not scored twice.
import { ask, path, ServerError } from "./server.js";
import { $, el, fill, setText, show } from "./dom.js";
import * as format from "./format.js";

const FIRST_BATCH = 64 * 1024, BATCH = 512 * 1024, RECORD_LIMIT = 32 * 1024 * 1024, TRIES = 6;
const NEWLINE = 10, QUOTE = 34;
const TIME_NAME = /^(time|timestamp|ts|at|date|datetime|when)$/i;
const TIME_VALUE = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)/;
const KEY_NAME = /^(host|hostname|key|device|sensor|machine|node|instance|server|pump|unit|station|service)$/i;

let job = null;
const unlisted = new Set(); // names of new streams until the page has heard of them

// ---- What the first lines suggest ----

export function splitLine(line, delimiter) {
    const cells = [];
    let cell = "", isQuoted = false;
    for (let i = 0; i < line.length; i++) {
        const c = line[i];
        if (c === '"' && isQuoted && line[i + 1] === '"') {
            cell += c;
            i++;
        } else if (c === '"')
            isQuoted = !isQuoted;
        else if (c === delimiter && !isQuoted) {
            cells.push(cell.trim());
            cell = "";
        } else
            cell += c;
    }
    return [...cells, cell.trim()];
}

function table(text, isJson) {
    const lines = text.split(/\r?\n/).slice(0, -1).filter(line => line && !line.startsWith("#")).slice(0, 500);
    if (isJson) {
        const objects = lines.map(line => { try { return JSON.parse(line); } catch { return {}; } });
        const names = Object.keys(objects[0] ?? {});
        return { names, rows: objects.map(object => names.map(name => String(object[name] ?? ""))) };
    }
    const first = lines[0] ?? "";
    const delimiter = [",", ";", "\t", "|"].reduce((best, one) => first.split(one).length > first.split(best).length ? one : best);
    const names = splitLine(first, delimiter);
    if (!first || names.some(name => !Number.isNaN(Number(name)) || TIME_VALUE.test(name)))
        return { names: [], rows: [] }; // the first line has values, so it is not a header
    const isWhole = first.split('"').length % 2 === 1;
    return { names, rows: lines.slice(1).map(line => splitLine(line, delimiter)), header: isWhole ? first : null };
}

export function suggest(text, isJson) {
    const { names, rows, header = null } = table(text, isJson);
    const isTime = i => TIME_NAME.test(names[i]) || rows.slice(0, 5).some(row => TIME_VALUE.test(row[i] ?? ""));
    const isKey = i => {
        const values = rows.map(row => row[i] ?? "");
        return KEY_NAME.test(names[i]) && new Set(values).size * 3 <= values.length;
    };
    const time = names.findIndex((_, i) => isTime(i)), key = names.findIndex((_, i) => i !== time && isKey(i));
    return { time: names[time] ?? null, key: names[key] ?? null, header };
}

function streamName(file, taken) {
    const plain = file.name.replace(/\.gz$/i, "").replace(/\.[A-Za-z]+$/, "").replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
    const base = plain.slice(0, 56) || "stream";
    let name = base;
    for (let i = 2; taken.includes(name); i++)
        name = `${base}-${i}`;
    return name;
}

// Call it when the page has heard of these streams; from then on, its list says which names are taken.
export function namesListed(names) {
    for (const name of names)
        unlisted.delete(name);
}

// ---- Batches ----

// Where the last whole record of these bytes ends. A line end within quotes is part of a record.
export function recordEnd(bytes, isJson) {
    let end = 0, isQuoted = false;
    for (let i = 0; i < bytes.length; i++)
        if (bytes[i] === QUOTE && !isJson)
            isQuoted = !isQuoted;
        else if (bytes[i] === NEWLINE && !isQuoted)
            end = i + 1;
    return end;
}

function joined(parts) {
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
        all.set(part, at);
        at += part.length;
    }
    return all;
}

function countLines(bytes) {
    let lines = 0;
    for (const byte of bytes)
        if (byte === NEWLINE)
            lines++;
    return lines;
}

async function* batches(file, isJson, onRead) {
    const counted = new TransformStream({ transform(chunk, out) { onRead(chunk.length); out.enqueue(chunk); } });
    let stream = file.stream().pipeThrough(counted);
    if (/\.gz$/i.test(file.name))
        stream = stream.pipeThrough(new DecompressionStream("gzip"));
    const reader = stream.getReader();
    let kept = [], size = 0, wanted = FIRST_BATCH;
    for (;;) {
        const { done, value } = await reader.read();
        if (value) {
            kept.push(value);
            size += value.length;
        }
        if (size < wanted && !done)
            continue;
        const bytes = joined(kept), end = done ? bytes.length : recordEnd(bytes, isJson);
        if (!end && size > RECORD_LIMIT)
            throw new Error("a record is longer than 32 MB: a quote that is not closed?");
        for (let at = 0; at < end;) { // a chunk may hold several batches
            const stop = end - at <= 2 * wanted ? end : at + recordEnd(bytes.subarray(at, at + wanted), isJson) || end;
            yield bytes.subarray(at, stop);
            at = stop;
            wanted = BATCH;
        }
        kept = [bytes.subarray(end)];
        size = bytes.length - end;
        if (done)
            return;
    }
}

async function post(task, bytes) {
    const type = task.isJson ? "application/x-ndjson" : "text/csv";
    // With the header again, a later batch whose first row is only text is not taken for one.
    const body = task.lines && task.header ? new Blob([task.header, "\n", bytes]) : bytes;
    const options = { method: "POST", body, headers: { "Content-Type": type }, signal: task.stop.signal };
    for (let attempt = 1; ; attempt++)
        try {
            return await ask(path(task.name, "/rows", { answer: "count", first_row: task.rows }), options);
        } catch (error) {
            const isPassing = error instanceof ServerError && [0, 429, 503].includes(error.status);
            if (!isPassing || attempt === TRIES)
                throw error;
            await new Promise(done => setTimeout(done, 250 * 2 ** attempt));
        }
}

// ---- The panel ----

// A task that another one has replaced may still wait to send again, and then ends: the panel is not its own any more.
function render(task) {
    if (job !== task)
        return;
    const roles = [task.settings.key && `key ${task.settings.key}`, task.settings.time && `time ${task.settings.time}`].filter(Boolean);
    setText($("upload-title"), task.state === "done" ? `Added ${task.name}` : task.state === "runs" ? `Adding ${task.name}` : `${task.name}: not complete`);
    $("upload-bar").value = task.state === "done" ? 1 : Math.min(1, task.read / (task.file.size || 1));
    setText($("upload-note"), `${format.count(task.rows)} rows, ${format.count(task.alerts)} anomalies. ${
        roles.length ? `Taken from the first lines: ${format.short(roles.join(", "), 120)}.` : "No key, no time."}`);
    fill($("upload-dropped"), task.dropped ?? [], () => el("li"), (item, text) => setText(item, format.short(text, 500)));
    setText($("upload-stop"), task.state === "runs" ? "Stop" : "Close");
    show($("upload"), true);
}

function showError(task, error) {
    if (job !== task)
        return;
    const line = error.line == null ? null : error.line + task.lines - (task.lines && task.header ? 1 : 0);
    const at = line == null ? "" : ` line ${format.count(line)}${error.column ? `, column ${error.column}` : ""}`;
    setText($("upload-error"), `${task.file.name}${at}: ${error.message}${error.remedy ? `\n${error.remedy}` : ""}`);
    show($("upload-error"), true);
}

async function create(task) {
    const settings = Object.fromEntries(Object.entries(task.settings).filter(([, value]) => value));
    unlisted.add(task.name);
    try {
        await ask(path(task.name), { method: "PUT", body: JSON.stringify(settings), headers: { "Content-Type": "application/json" } });
    } catch (error) {
        unlisted.delete(task.name);
        throw error;
    }
}

async function run(task, page) {
    job = task;
    show($("upload-error"), false);
    render(task);
    try {
        await create(task);
        for await (const bytes of batches(task.file, task.isJson, count => { task.read += count; })) {
            const answer = await post(task, bytes);
            const isFirst = task.rows === 0;
            task.rows = answer.rows;
            task.alerts += answer.alerts;
            task.lines += countLines(bytes);
            render(task);
            if (isFirst)
                page.onFirstRows(task.name);
        }
        await findDropped(task);
        task.state = "done";
    } catch (error) {
        task.state = "ended";
        task.rows = error.rows ?? task.rows;
        if (error.name !== "AbortError")
            showError(task, error);
    }
    render(task);
    page.onRows(task.name);
}

function newTask(file, name, isJson, { time = null, key = null, header = null } = {}) {
    return { file, name, isJson, settings: { key, time }, header, state: "runs", read: 0, rows: 0, alerts: 0, lines: 0,
             stop: new AbortController() };
}

// No stream is made of it.
function refuse(file, isJson, error) {
    const task = job = newTask(file, file.name, isJson);
    task.state = "ended";
    render(task);
    showError(task, error);
}

// What was not learned, in the server's words: columns that are left out, rows that could not be read.
async function findDropped(task) {
    const stream = await ask(path(task.name)).catch(() => null), bad = stream?.bad_rows ?? 0;
    task.dropped = [bad ? `${format.count(bad)} bad ${bad === 1 ? "row was" : "rows were"} left out.` : "", ...stream?.notes ?? []].filter(Boolean);
}

// page: { streamNames(), onFirstRows(name), onRows(name) }
export async function addFile(file, page) {
    job?.stop.abort();
    const isJson = /\.(ndjson|jsonl|json)(\.gz)?$/i.test(file.name);
    let text = "";
    try {
        for await (const bytes of batches(file, isJson, () => {})) {
            text = new TextDecoder().decode(bytes);
            break;
        }
    } catch (error) {
        return refuse(file, isJson, error);
    }
    if (text.includes("\0"))
        return refuse(file, isJson, new Error("this is not text; drop a CSV or NDJSON file, also with .gz"));
    await run(newTask(file, streamName(file, [...page.streamNames(), ...unlisted]), isJson, suggest(text, isJson)), page);
}

export function startUpload(page) {
    const hasFile = event => page.mayWrite() && [...event.dataTransfer?.types ?? []].includes("Files");
    addEventListener("dragover", event => {
        if (!hasFile(event))
            return;
        event.preventDefault();
        show($("drop"), true);
    });
    addEventListener("dragleave", event => event.relatedTarget || show($("drop"), false));
    addEventListener("drop", event => {
        if (!hasFile(event))
            return;
        event.preventDefault();
        show($("drop"), false);
        if (event.dataTransfer.files[0])
            addFile(event.dataTransfer.files[0], page);
    });
    $("file").onchange = event => {
        if (event.target.files[0])
            addFile(event.target.files[0], page);
        event.target.value = "";
    };
    $("add").onclick = $("empty-add").onclick = () => $("file").click();
    $("upload-stop").onclick = () => job.state === "runs" ? job.stop.abort() : show($("upload"), false);
}
