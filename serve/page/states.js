// What a stream or a key is, in words: the server decides which (State in the API).
import * as format from "./format.js";

const RANKS = ["quiet", "learning", "recovering", "no data", "alert", "damaged"];
const rankOf = ({ state }) => RANKS.indexOf(state);

// Those that need a look first.
export const worstFirst = streams => [...streams].sort((a, b) =>
    rankOf(b) - rankOf(a) || (b.state_severity ?? 0) - (a.state_severity ?? 0) || (a.name < b.name ? -1 : 1));

// "40 of about 250 rows, about 12 min left"
export function learningText({ learning }) {
    if (!learning)
        return "";
    const of = learning.of == null ? "" : ` of about ${format.count(learning.of)}`;
    const left = learning.seconds_left == null ? "" : `, about ${format.duration(learning.seconds_left)} left`;
    return `${format.count(learning.rows)}${of} rows${left}`;
}

const shareText = ({ learning }) => learning?.of ? ` ${Math.floor(100 * Math.min(learning.rows / learning.of, 0.99))}%` : "";
const openText = stream => `▲ ${format.count(stream.episodes_open)} open`;

export const damagedText = ({ error }) => `✕ Damaged: ${format.short(error ?? "", 300)}. Restore a backup of it, or delete the stream; then start the server again.`;

// Of a stream, in a few words.
export function stateText(stream) {
    switch (stream.state) {
    case "damaged": return "✕ damaged";
    case "alert": return openText(stream);
    case "recovering": return `${openText(stream)}, recovering`;
    case "no data": return stream.rows ? `◌ no data since ${format.time(stream.state_since)}` : "◌ no rows yet";
    case "learning": return `◌ learning${shareText(stream)}`;
    case "quiet": return stream.episodes_open ? openText(stream) : "✓ quiet";
    default: return `◌ ${stream.state ?? "unknown"}`;
    }
}

const named = streams => streams.length === 1 ? format.short(streams[0].name, 40) : `${format.count(streams.length)} streams`;

function dataLost(streams) {
    const since = Math.min(...streams.map(stream => stream.state_since ?? Infinity));
    const part = streams.length === 1 && streams[0].state_keys < streams[0].keys
        ? `${format.count(streams[0].state_keys)} of ${format.count(streams[0].keys)} keys are silent, the first ` : "";
    return { state: "unsure", title: `No data from ${named(streams)}`, note: Number.isFinite(since) ? `${part}since ${format.time(since)}` : "no rows yet" };
}

function learnt(learning, all) {
    const isAll = learning.length === all.length, what = `${named(learning)} still ${learning.length === 1 ? "learns" : "learn"}`;
    return { state: "unsure", title: isAll ? "Learning" : `No alert, but ${what}`,
             note: `${learning.length === 1 ? learningText(learning[0]) : `${named(learning)} learn`}; no row can be anomalous before` };
}

// The headline while no episode is open; null: each stream says that it is quiet.
export function headline(streams) {
    const those = state => streams.filter(stream => stream.state === state);
    const damaged = those("damaged"), silent = those("no data"), learning = those("learning");
    if (damaged.length)
        return { state: "wrong", title: `${named(damaged)} ${damaged.length === 1 ? "is" : "are"} damaged`, note: format.short(damaged[0].error ?? "", 300) };
    if (silent.length)
        return dataLost(silent);
    if (learning.length)
        return learnt(learning, streams);
    const other = streams.find(stream => stream.state !== "quiet");
    return other ? { state: "unsure", title: `${named([other])}: ${other.state}`, note: "" } : null;
}

// "; 3 keys still learn": half of a stream's keys may, while it is quiet.
export function learningKeysText(streams) {
    const keys = streams.reduce((sum, stream) => sum + (stream.learning_keys ?? 0), 0);
    return keys ? `; ${format.count(keys)} ${keys === 1 ? "key still learns" : "keys still learn"}` : "";
}

// What else is to be known while episodes are open: "1 stream has no data, 2 learn".
export function besidesText(streams) {
    const count = state => streams.filter(stream => stream.state === state).length;
    return [["damaged", "damaged"], ["no data", "without data"], ["learning", "learning"]].filter(([state]) => count(state))
        .map(([state, word]) => `${format.count(count(state))} ${count(state) === 1 ? "stream" : "streams"} ${word}`).join(", ");
}
