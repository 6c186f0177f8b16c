// The keys of the chosen stream, a page of them at a time: ranking and search are the server's.
import { ask, path } from "./server.js";
import { $, el, fill, isBusy, keepOrder, setText, show } from "./dom.js";
import * as format from "./format.js";
import { learningText } from "./states.js";

const PAGE = 100, WORST = 6; // a severity that fills the bar
let shown = [], total = 0, offset = 0, stream = null, turn = 0;

export const shownKeys = () => shown.map(key => key.key);

function makeRow() {
    return el("li", {}, el("button", { type: "button" },
                           el("span", { className: "name" }), el("span", { className: "figure" }),
                           el("span", { className: "bar" }, el("i")), el("span", { className: "below" })));
}

function stateWords(key) {
    if (key.episode != null)
        return `▲ ${format.reason(key)}${key.state === "recovering" ? ", recovering" : ""}`;
    if (key.silent)
        return `◌ silent since ${format.time(key.last_seen)}`;
    return key.state === "learning" ? `◌ learning: ${learningText({ learning: { ...key.learning, seconds_left: null } })}` : "";
}

function updateRow(row, key, chosen, onChoose) {
    const button = row.firstChild, [name, figure, bar, below] = button.children;
    const isOpen = key.episode != null;
    setText(name, format.short(key.key, 120) || "(empty)");
    const severity = isOpen ? key.state_severity ?? key.severity : key.severity, words = stateWords(key);
    setText(figure, format.severity(severity));
    figure.title = isOpen ? "peak severity of the open episode" : "severity of the latest row";
    bar.firstChild.style.width = `${Math.min(100, Math.max(0, 100 * (severity ?? 0) / WORST))}%`;
    setText(below, words);
    below.className = isOpen ? "below open" : "below";
    show(below, words !== "");
    button.dataset.open = isOpen;
    button.setAttribute("aria-current", key.key === chosen);
    button.onclick = () => onChoose(key.key);
}

export function renderKeys(chosen, onChoose) {
    fill($("key-list"), shown, makeRow, (row, key) => updateRow(row, key, chosen, onChoose));
    setText($("key-count"), format.count(total));
    const last = Math.min(total, offset + shown.length);
    show($("key-pager"), total > PAGE);
    show($("key-none"), total === 0 && $("key-find").value !== "");
    setText($("key-none"), `No key has “${format.short($("key-find").value, 40)}” in it.`);
    setText($("key-place"), `${format.count(offset + 1)} – ${format.count(last)} of ${format.count(total)}`);
    $("key-before").disabled = offset === 0;
    $("key-after").disabled = last >= total;
}

export async function loadKeys(name, chosen, onChoose, isLive) {
    const mine = ++turn;
    if (name !== stream) {
        stream = name;
        offset = 0;
        $("key-find").value = "";
    }
    const answer = await ask(path(name, "/keys", { order: $("key-order").value, find: $("key-find").value, limit: PAGE, offset }));
    if (mine !== turn)
        return;
    shown = isLive && isBusy($("key-list")) ? keepOrder(shown, answer.keys, key => key.key) : answer.keys;
    total = answer.total;
    renderKeys(chosen(), onChoose);
}

// before: -1, after: 1, the first page: 0
export function turnPage(direction) {
    offset = direction === 0 ? 0 : Math.max(0, offset + direction * PAGE);
    $("key-list").scrollTop = 0;
}
