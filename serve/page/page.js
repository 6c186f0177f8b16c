// The page: what is chosen, what is loaded again when, and the controls.
//
// Events only say that something changed. What the eye sees is then asked for, at most once or twice
// per second, so a stream of 10^5 rows per second costs the page no more than one of 10.
import { ask, listen, path, urlOf } from "./server.js";
import * as detail from "./detail.js";
import { $, el, fill, isBusy, keepOrder, paced, setText, show } from "./dom.js";
import { renderRules, startFeedback } from "./feedback.js";
import * as format from "./format.js";
import { loadKeys, renderKeys, shownKeys, turnPage } from "./keys.js";
import { loadIncidents } from "./incidents.js";
import * as range from "./range.js";
import { forgetTexts, openEpisodes, renderNow, setDown } from "./now.js";
import { damagedText, stateText, worstFirst } from "./states.js";
import { namesListed, startUpload } from "./upload.js";

const STREAMS_SHOWN = 50, OPEN_ASKED = 50;
const chosen = { stream: null, key: null };
let info = null, now = { episodes: [], streams: [] }, isDown = false, streamOrder = [];

const mayWrite = () => info !== null && !info.read_only;
const streamOf = name => now.streams.find(stream => stream.name === name);
const streamNames = () => now.streams.map(stream => stream.name);

// The worst first, unless somebody is about to press one.
function orderedStreams() {
    const sorted = worstFirst(now.streams), isSame = sorted.length === streamOrder.length;
    streamOrder = isSame && isBusy($("stream-list")) ? keepOrder(streamOrder, sorted, stream => stream.name) : sorted;
    return streamOrder;
}

// What the browser remembers for this page; private windows may refuse.
function remembered(name, other) {
    try { return localStorage.getItem(`oif.${name}`) ?? other; } catch { return other; }
}

function remember(name, value) {
    try { localStorage.setItem(`oif.${name}`, value); } catch { /* then it lasts as long as the page */ }
}

// ---- Failures ----

function fail(error) {
    if (error.name === "AbortError")
        return;
    setLink(error.status ? "live" : "down");
    banner(error.status ? error.message : null); // the headline says that the connection is lost
}

function banner(text) {
    setText($("banner"), text ?? "");
    show($("banner"), Boolean(text));
}

function setLink(state) {
    $("link").dataset.state = state;
    isDown = state === "down";
    setDown(isDown);
    setText($("link-text"), { live: "Live", down: "Connection lost, trying again", wait: "Connecting" }[state]);
}

const guarded = run => async (...given) => {
    try {
        await run(...given);
    } catch (error) {
        fail(error);
    }
};

// ---- Loading ----

const loadNow = guarded(async () => {
    [now] = await Promise.all([ask(`/api/v1/now?limit=${OPEN_ASKED}`), loadIncidents()]);
    namesListed(streamNames());
    if (chosen.stream == null)
        await chooseFirst();
    renderAll();
    banner(null);
});

const loadList = guarded(async isLive => {
    if (streamOf(chosen.stream)?.key != null)
        await loadKeys(chosen.stream, () => chosen.key, chooseKey, isLive);
});

async function loadChosen() {
    const stream = streamOf(chosen.stream);
    if (!stream || !stream.rows || (stream.key != null && chosen.key == null)) {
        detail.clearDetail();
        show($("detail-error"), false);
        return renderChosen(); // why there is nothing
    }
    try {
        await detail.loadDetail({ ...chosen, ...range.wantedRange() });
        show($("detail-error"), false);
        renderChosen();
    } catch (error) {
        if (error.status === 401 || !error.status)
            return fail(error);
        detail.clearDetail();
        renderChosen(); // why, if the list of streams knows already
        setText($("detail-error"), error.message);
        show($("detail-error"), true);
    }
}

// A stream that was empty when it was chosen has keys by now.
const followChosen = guarded(async () => {
    const stream = streamOf(chosen.stream);
    if (stream?.key != null && chosen.key == null && stream.keys > 0)
        await chooseStream(stream.name);
    else
        await loadChosen();
});

const nowSoon = paced(loadNow, 1000);
const listSoon = paced(() => loadList(true), 1000);
const detailSoon = paced(followChosen, 500);

function everythingSoon() {
    nowSoon();
    listSoon();
    detailSoon();
}

function onEvent(kind, data) {
    if (kind === "lost")
        return everythingSoon();
    if (kind === "incident")
        return nowSoon();
    nowSoon();
    if (data.stream === chosen.stream || data.name === chosen.stream) {
        listSoon();
        detailSoon();
    }
}

// ---- What is chosen ----

// The first look: what is worst now, or else the stream's worst key.
async function chooseFirst() {
    const worst = now.episodes[0];
    if (worst)
        return choose(worst.stream, worst.key ?? null, null, true);
    if (now.streams.length)
        return chooseStream(worstFirst(now.streams)[0].name, true);
    chosen.stream = chosen.key = null;
}

async function chooseStream(name, isFirst = false) {
    let key = now.episodes.find(episode => episode.stream === name)?.key ?? null;
    if (key == null && streamOf(name)?.key != null) {
        const { keys } = await ask(path(name, "/keys", { order: "severity", limit: 1 }));
        key = keys[0]?.key ?? null;
    }
    await choose(name, key, null, isFirst);
}

function setChosen(stream, key, episode) {
    const isOther = stream !== chosen.stream || key !== chosen.key;
    Object.assign(chosen, { stream, key });
    if (isOther) {
        detail.clearDetail();
        detail.setPinned(null);
    }
    if (isOther || episode != null)
        detail.chooseEpisode(episode);
}

async function choose(stream, key, episode = null, isFirst = false) {
    setChosen(stream, key, episode);
    writeAddress(isFirst);
    renderAll();
    await Promise.all([loadList(), loadChosen()]);
    if (episode != null && detail.showChosenEpisode()) {
        writeAddress(true);
        await loadChosen();
    }
}

const chooseKey = key => choose(chosen.stream, key);

const chooseOpen = guarded(async episode => {
    if (episode.key == null && episode.number === 0) // the whole stream has no data
        await chooseStream(episode.stream);
    else
        await choose(episode.stream, episode.key ?? null, episode.number || null);
    if (matchMedia("(max-width: 60rem)").matches)
        $("detail").scrollIntoView();
});

const choosePast = guarded(number => choose(chosen.stream, chosen.key, number));

// ---- The address: what is shown, so that a link shows the same, and Back what was shown before ----

function addressOf() {
    const { stream, key } = chosen, episode = detail.shownEpisode(), at = detail.pinnedTime();
    const given = { stream, key, episode, ...range.rangeParameters(), at: at == null ? null : range.timeText(at),
                    zone: format.zone() === "UTC" ? "UTC" : null };
    return `#${new URLSearchParams(Object.entries(given).filter(([, value]) => value != null))}`;
}

// Is it a step of its own, to which Back leads?
function writeAddress(isSameStep = false) {
    if (chosen.stream == null || addressOf() === location.hash)
        return;
    history[isSameStep || !location.hash ? "replaceState" : "pushState"](null, "", addressOf());
}

function takeAddress() {
    const wanted = new URLSearchParams(location.hash.slice(1)), number = wanted.get("episode");
    if (!wanted.has("stream"))
        return;
    setChosen(wanted.get("stream"), wanted.get("key"), number && Number(number));
    detail.chooseEpisode(number && Number(number));
    range.takeRange(wanted);
    detail.setPinned(range.asSeconds(wanted.get("at")));
    if (wanted.has("zone"))
        setZone(wanted.get("zone") === "UTC" ? "UTC" : "local", false);
}

const followAddress = guarded(async () => {
    takeAddress();
    renderAll();
    await Promise.all([loadList(), loadChosen()]);
});

const showRange = guarded(async () => {
    writeAddress();
    await loadChosen();
});

// ---- Rendering ----

// A rate of 0 does not say whether a slow sender still sends.
function cameText({ state, rows_per_second, last_row_at }) {
    return rows_per_second ? `, ${format.rate(rows_per_second)}/s` : last_row_at && state !== "no data" ? `, last ${format.time(last_row_at)}` : "";
}

function renderStreams() {
    const wanted = $("stream-find").value.toLowerCase();
    const found = orderedStreams().filter(stream => stream.name.toLowerCase().includes(wanted));
    const make = () => el("li", {}, el("button", { type: "button" }, el("span", { className: "name" }),
                                       el("span", { className: "figure" }), el("span", { className: "below" })));
    fill($("stream-list"), found.slice(0, STREAMS_SHOWN), make, (row, stream) => {
        const button = row.firstChild, [name, figure, below] = button.children;
        setText(name, stream.name);
        setText(figure, stateText(stream));
        figure.className = ["alert", "damaged"].includes(stream.state) ? "figure open" : "figure";
        setText(below, stream.state === "damaged" ? "" : `${format.count(stream.rows)} rows${cameText(stream)}`);
        button.setAttribute("aria-current", stream.name === chosen.stream);
        button.onclick = guarded(() => chooseStream(stream.name));
    });
    show($("stream-find"), now.streams.length > 8);
    setText($("stream-more"), !found.length && wanted ? `No stream has “${format.short(wanted, 40)}” in its name.`
        : found.length > STREAMS_SHOWN ? `the worst ${STREAMS_SHOWN} of ${format.count(found.length)} are shown` : "");
}

function fillFigures(list, figures) {
    fill(list, figures.filter(([, value]) => value != null), () => el("div", {}, el("dt"), el("dd")), (pair, [name, value]) => {
        setText(pair.firstChild, name);
        setText(pair.lastChild, value);
    });
}

// Those of the key, and in smaller type those of its stream.
function renderFigures(stream) {
    const key = chosen.key == null ? null : detail.shownKey();
    show($("figures"), key !== null);
    fillFigures($("figures"), key === null ? [] : [
        ["Rows", format.count(key.rows)], ["Last row", format.time(key.last_seen, true)], ["Score", format.score(key.score)],
        ["Threshold", format.severity(key.threshold)],
        key.episode == null ? ["Severity", format.severity(key.severity)] : ["Peak severity", format.severity(key.state_severity)]]);
    show($("stream-title"), chosen.key != null);
    fillFigures($("stream-figures"), [
        ["Rows", format.count(stream.rows)], ["Rows per second", format.rate(stream.rows_per_second)],
        ["Keys", stream.key == null ? null : format.count(stream.keys)], ["Anomalies", format.count(stream.alerts)],
        ["Episodes", format.count(stream.episodes)], ["Memory", format.bytes(stream.memory_bytes)],
        ["Learning keys", stream.key != null && stream.learning_keys ? format.count(stream.learning_keys) : null],
        ["Silent keys", stream.silent_keys ? format.count(stream.silent_keys) : null],
        ["Bad rows", stream.bad_rows ? format.count(stream.bad_rows) : null],
        ["Saved rows", stream.kept === false ? "not kept" : format.count(stream.saved)]]);
}

function renderChosen() {
    const stream = streamOf(chosen.stream), isMissing = !stream && chosen.stream != null && info !== null;
    show($("work"), now.streams.length > 0);
    show($("detail"), Boolean(stream));
    show($("empty"), now.streams.length === 0 && info !== null);
    show($("missing"), isMissing);
    setText($("missing"), isMissing ? `There is no stream “${format.short(chosen.stream)}”. It was deleted, or the link is wrong.` : "");
    if (!stream)
        return show($("keys"), false);
    const name = chosen.key ?? stream.name;
    const parts = chosen.key == null ? [name] : [el("span", { className: "dim", textContent: `${stream.name} / ` }), format.short(name, 2000)];
    if ($("detail-title").textContent !== parts.map(part => part.textContent ?? part).join(""))
        $("detail-title").replaceChildren(...parts);
    renderFigures(stream);
    renderRules(stream);
    show($("keys"), stream.key != null);
    show($("forget"), mayWrite() && chosen.key != null);
    show($("remove"), mayWrite());
    show($("manage"), true);
    const settings = Object.entries({ detector: stream.detector, ...stream.settings });
    setText($("settings"), settings.map(([name, value]) => format.short(`${name}: ${JSON.stringify(value)}`, 2000)).join("\n"));
    fill($("notes"), stream.notes ?? [], () => el("li"), (item, note) => setText(item, format.short(note, 2000)));
    const isDamaged = stream.state === "damaged";
    show($("stream-figures"), !isDamaged);
    show($("range"), stream.rows > 0);
    if (!stream.rows) {
        $("state").dataset.state = isDamaged ? "wrong" : "calm";
        setText($("state"), isDamaged ? damagedText(stream) : "No rows yet.");
    }
}

function renderAll() {
    renderNow(now, chosen, chooseOpen);
    renderStreams();
    renderKeys(chosen.key, chooseKey);
    renderChosen();
    const rate = now.streams.reduce((sum, stream) => sum + (stream.rows_per_second ?? 0), 0);
    const memory = now.streams.reduce((sum, stream) => sum + (stream.memory_bytes ?? 0), 0);
    setText($("totals"), now.streams.length ? `${format.count(now.streams.length)} ${now.streams.length === 1 ? "stream" : "streams"}, ${
        format.rate(rate)} rows/s, ${format.bytes(memory)}` : "");
}

// ---- Settings of the page ----

const THEMES = ["auto", "light", "dark"];

function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    setText($("theme"), `Colours: ${theme}`);
    $("theme").setAttribute("aria-label", `Colours: ${theme}${theme === "auto" ? ", as the system" : ""}. Change`);
    remember("theme", theme);
    detail.recolour();
}

function setZone(zone, isKept = true) {
    format.setZone(zone);
    setText($("zone"), `Times: ${zone}`);
    $("zone").setAttribute("aria-label", `Times: ${zone}. Change to ${zone === "UTC" ? "local" : "UTC"}`);
    if (isKept)
        remember("zone", zone);
    forgetTexts();
    renderAll();
    detail.renderAgain();
}

const after = (list, item) => list[(list.indexOf(item) + 1) % list.length];
const nextTheme = () => setTheme(after(THEMES, document.documentElement.dataset.theme));

// ---- Removing ----

function confirmed(title, text, yes) {
    const dialog = $("confirm");
    setText($("confirm-title"), title);
    setText($("confirm-text"), text);
    setText($("confirm-yes"), yes);
    dialog.returnValue = "";
    dialog.showModal();
    return new Promise(done => { dialog.onclose = () => done(dialog.returnValue === "yes"); });
}

$("remove").onclick = guarded(async () => {
    const name = chosen.stream;
    if (!await confirmed(`Delete ${name}?`, "Its model, its history and its settings are removed from the disk. There is no way back.", "Delete"))
        return;
    await ask(path(name), { method: "DELETE" });
    chosen.stream = null;
    await loadNow();
});

$("forget").onclick = guarded(async () => {
    const { stream, key } = chosen;
    if (!await confirmed(`Forget ${format.short(key, 60)}?`, "What was learned about this key is removed; if it comes back, it is new.", "Forget"))
        return;
    await ask(path(stream, "/keys", { key }), { method: "DELETE" });
    await chooseStream(stream);
    everythingSoon();
});

// ---- Keyboard ----

function step(list, current, by) {
    return list[Math.min(list.length - 1, Math.max(0, list.indexOf(current) + by))];
}

// Who cannot see the page hears what a shortcut led to.
function speak() {
    setText($("announce"), `${format.short($("detail-title").textContent, 100)}: ${$("state").textContent}`);
}

const stepKey = guarded(async by => {
    const key = step(shownKeys(), chosen.key, by);
    if (key != null && key !== chosen.key)
        await chooseKey(key);
    speak();
    $("key-list").querySelector('[aria-current="true"]')?.scrollIntoView({ block: "nearest" });
});

async function nextOpen() {
    const open = openEpisodes();
    const at = open.findIndex(episode => episode.stream === chosen.stream && (episode.key ?? null) === chosen.key);
    if (!open.length)
        return;
    await chooseOpen(open[(at + 1) % open.length]);
    speak();
}

const SHORTCUTS = {
    n: nextOpen,
    j: () => stepKey(1),
    k: () => stepKey(-1),
    s: () => now.streams.length && guarded(chooseStream)(after(streamNames(), chosen.stream)),
    "/": () => $("key-find").focus(),
    "[": () => range.moveRange(-0.5),
    "]": () => range.moveRange(0.5),
    "-": () => range.zoom(2),
    "+": () => range.zoom(0.5),
    0: range.showLatest,
    c: () => $("cursor").focus(),
    a: () => mayWrite() && $("file").click(),
    d: nextTheme,
    "?": () => $("help").showModal(),
};

addEventListener("keydown", event => {
    const isTyping = event.target.matches("input:not([type=range]):not([type=checkbox]), select, textarea") || document.querySelector("dialog[open]");
    const run = SHORTCUTS[event.key];
    if (!run || isTyping || event.ctrlKey || event.metaKey || event.altKey || !$("shortcuts-on").checked)
        return;
    event.preventDefault();
    run();
});

// ---- Start ----

function startControls() {
    $("theme").onclick = nextTheme;
    $("zone").onclick = () => { setZone(format.zone() === "UTC" ? "local" : "UTC"); writeAddress(true); };
    $("help-open").onclick = () => $("help").showModal();
    $("shortcuts-on").checked = remembered("shortcuts", "on") === "on";
    $("shortcuts-on").onchange = event => remember("shortcuts", event.target.checked ? "on" : "off");
    for (const button of document.querySelectorAll("[data-close]"))
        button.onclick = () => button.closest("dialog").close("");
    $("stream-find").oninput = renderStreams;
    const findSoon = paced(() => loadList(), 150);
    $("key-find").oninput = $("key-order").onchange = () => { turnPage(0); findSoon(); };
    $("key-before").onclick = () => { turnPage(-1); loadList(); };
    $("key-after").onclick = () => { turnPage(1); loadList(); };
    $("key-find").onkeydown = event => { // without braces it would return false, which is to forbid the key
        if (event.key === "Escape")
            event.target.blur();
    };
    matchMedia("(prefers-color-scheme: dark)").onchange = detail.recolour;
    addEventListener("hashchange", followAddress);
    const stream = urlOf("/api/v1/streams/NAME").href;
    setText($("empty-code"), `curl '${stream}/rows?create=true' -H 'Content-Type: text/csv' --data-binary @rows.csv`);
}

const start = guarded(async () => {
    info = await ask("/api/v1");
    setText($("version"), `oif ${info.version}`);
    show($("add"), mayWrite());
    for (const part of document.querySelectorAll(".writing"))
        show(part, mayWrite());
    takeAddress();
    const wanted = chosen.stream;
    await loadNow();
    if (wanted && wanted === chosen.stream)
        await Promise.all([loadList(), followChosen()]);
    listen({ onOpen: () => { setLink("live"); everythingSoon(); }, onDown: () => setLink("down"), onEvent });
    setInterval(() => { // rates fall without an event; and without a connection this is how it comes back
        if (document.visibilityState === "visible")
            isDown ? everythingSoon() : nowSoon();
    }, 5000);
});

startControls();
range.startRange({ remember, shownTimes: detail.shownTimes, onChange: showRange, onLatest: () => detail.setPinned(null) }, remembered("limit", "500"));
detail.startDetail({ streamOf, onRange: showRange, onPick: () => writeAddress(true), onEpisode: choosePast });
startFeedback({ mayWrite, onChange: everythingSoon });
startUpload({
    mayWrite,
    streamNames,
    onRows: guarded(async name => { await loadNow(); await chooseStream(name); }),
});
setTheme(remembered("theme", "auto"));
setZone(remembered("zone", "local"));
start();
