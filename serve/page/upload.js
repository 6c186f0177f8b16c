// A file that is dropped on the page becomes a stream, in one request: its key and its time are those
// that the first lines of the file suggest.
import { ask, path } from "./server.js";
import { $, el, fill, setText, show } from "./dom.js";
import * as format from "./format.js";

const FIRST_BYTES = 65536;
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
    return { names, rows: lines.slice(1).map(line => splitLine(line, delimiter)) };
}

export function suggest(text, isJson) {
    const { names, rows } = table(text, isJson);
    const isTime = i => TIME_NAME.test(names[i]) || rows.slice(0, 5).some(row => TIME_VALUE.test(row[i] ?? ""));
    const isKey = i => {
        const values = rows.map(row => row[i] ?? "");
        return KEY_NAME.test(names[i]) && new Set(values).size * 3 <= values.length;
    };
    const time = names.findIndex((_, i) => isTime(i)), key = names.findIndex((_, i) => i !== time && isKey(i));
    return { key: names[key] ?? null, time: names[time] ?? null };
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

// ---- The file ----

const isGzip = file => /\.gz$/i.test(file.name);
const isJson = file => /\.(ndjson|jsonl|json)(\.gz)?$/i.test(file.name);

async function firstText(file) {
    const first = file.slice(0, FIRST_BYTES);
    if (!isGzip(file))
        return first.text();
    const { value } = await first.stream().pipeThrough(new DecompressionStream("gzip")).getReader().read();
    return new TextDecoder().decode(value);
}

function post(task) {
    const headers = { "Content-Type": isJson(task.file) ? "application/x-ndjson" : "text/csv" };
    if (isGzip(task.file))
        headers["Content-Encoding"] = "gzip";
    return ask(path(task.name, "/rows", { answer: "count", create: true, ...task.roles }),
               { method: "POST", body: task.file, headers, signal: task.stop.signal });
}

// ---- The panel ----

// A task that another one has replaced ends later: the panel is not its own any more.
function render(task) {
    if (job !== task)
        return;
    const { stream, state } = task, roles = Object.entries(task.roles).filter(([, name]) => name).map(role => role.join(" "));
    setText($("upload-title"), state === "done" ? `Added ${task.name}` : state === "runs" ? `Adding ${task.name}` : `${task.name}: not complete`);
    show($("upload-bar"), state === "runs");
    setText($("upload-note"), `${stream ? `${format.count(stream.rows)} rows, ${format.count(stream.alerts)} anomalies. ` : ""}${
        roles.length ? `Taken from the first lines: ${format.short(roles.join(", "), 120)}.` : "No key, no time."}`);
    // What was not learned, in the server's words: columns that are left out, rows that could not be read.
    const bad = stream?.bad_rows ?? 0, left = bad ? [`${format.count(bad)} bad ${bad === 1 ? "row was" : "rows were"} left out.`] : [];
    fill($("upload-dropped"), state === "done" ? [...left, ...stream?.notes ?? []] : [], () => el("li"), (item, text) => setText(item, format.short(text, 500)));
    setText($("upload-stop"), state === "runs" ? "Stop" : "Close");
    show($("upload"), true);
}

function showError(task, error) {
    if (job !== task)
        return;
    const at = error.line == null ? "" : ` line ${format.count(error.line)}${error.column ? `, column ${error.column}` : ""}`;
    setText($("upload-error"), `${task.file.name}${at}: ${error.message}${error.remedy ? `\n${error.remedy}` : ""}`);
    show($("upload-error"), true);
}

// page: { streamNames(), onRows(name) }
export async function addFile(file, page) {
    job?.stop.abort();
    const task = job = { file, name: streamName(file, [...page.streamNames(), ...unlisted]), roles: {}, state: "runs", stream: null,
                         stop: new AbortController() };
    unlisted.add(task.name);
    show($("upload-error"), false);
    const text = await firstText(file).catch(() => ""); // the server says what is wrong with it
    task.roles = suggest(text, isJson(file));
    render(task);
    try {
        if (text.includes("\0"))
            throw new Error("this is not text; drop a CSV or NDJSON file, also with .gz");
        await post(task);
        task.state = "done";
    } catch (error) {
        task.state = "ended";
        if (error.name !== "AbortError")
            showError(task, error);
    }
    const { streams } = await ask("/api/v1/streams").catch(() => ({ streams: [] }));
    task.stream = streams.find(stream => stream.name === task.name) ?? null;
    render(task);
    if (task.stream)
        page.onRows(task.name);
    else
        unlisted.delete(task.name);
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
