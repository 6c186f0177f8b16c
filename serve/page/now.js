// What is wrong now: the incidents of all streams, the worst first, or since when all is quiet.
import { ask, path } from "./server.js";
import { $, el, fill, isBusy, keepOrder, setGrade, setText } from "./dom.js";
import * as format from "./format.js";
import { openIncidents, renderEnded, renderMany } from "./incidents.js";

const SHOWN = 50, STREAMS_ASKED = 20;
const nameOf = episode => JSON.stringify([episode.stream, episode.key, episode.number]);

let shown = [], wrong = [], known = null, quiet = { of: -1, text: "" };

export const openEpisodes = () => shown;

function makeRow() {
    return el("li", {}, el("button", { type: "button" },
                           el("span", { className: "badge" }),
                           el("span", { className: "what" }, el("strong"), el("span")),
                           el("span", { className: "where" })));
}

// One line for an incident of one episode; one that opens for an incident of several.
export function renderNow(now, chosen, onChoose) {
    const incidents = openIncidents(now.episodes), list = $("now-list");
    const isSame = wrong.length === incidents.length;
    shown = now.episodes.slice(0, SHOWN);
    wrong = isSame && isBusy(list) ? keepOrder(wrong, incidents, one => one.id) : incidents;
    const choose = { chosen, onChoose, isMany: now.streams.length > 1, episodes: now.episodes };
    fill(list, wrong.slice(0, SHOWN), makeRow, (row, incident) => {
        const button = row.firstChild, [badge, what, where] = button.children;
        setGrade(badge, incident.grade);
        if (incident.members === 1 && incident.episode)
            renderOne(button, what, where, incident.episode, choose);
        else
            renderMany(row, what, where, incident, choose);
    });
    renderEnded(onChoose);
    renderTitle(now, wrong.length);
    announce(now.episodes);
}

function renderOne(button, what, where, episode, { chosen, onChoose, isMany }) {
    setText(what.firstChild, format.short(format.reason(episode)));
    setText(what.lastChild, ` ${format.since(episode)}`);
    setText(where, [isMany ? episode.stream : "", format.short(episode.key ?? "", 60)].filter(Boolean).join(" / "));
    button.onclick = () => onChoose(episode);
    button.removeAttribute("aria-expanded");
    button.setAttribute("aria-current", episode.stream === chosen.stream && (episode.key ?? null) === chosen.key);
    button.parentNode.querySelector(".members")?.remove();
}

function renderTitle(now, total) {
    const isQuiet = total === 0;
    $("now").dataset.state = isQuiet ? (now.streams.length ? "quiet" : "wait") : "wrong";
    setText($("now-title"), isQuiet ? (now.streams.length ? "All quiet" : "Nothing is watched yet") : `${format.count(total)} open ${total === 1 ? "incident" : "incidents"}`);
    setText($("now-note"), isQuiet ? quiet.text : openText(now, total));
    document.title = isQuiet ? "oif: all quiet" : `(${total}) oif: ${format.short(format.reason(now.episodes[0] ?? {}), 40)}`;
    if (isQuiet)
        findQuiet(now);
}

// "7 open episodes, worst first"
function openText(now, total) {
    const open = now.open ?? now.episodes.length;
    const episodes = open === total ? "" : `${format.count(open)} open episodes, `;
    return episodes + (total > SHOWN ? `the worst ${SHOWN} are shown` : "worst first");
}

// Since when: the end of the latest episode. Asked again only when there was another episode.
async function findQuiet(now) {
    const of = now.streams.reduce((sum, stream) => sum + stream.episodes, 0) + now.streams.length / 1e6;
    if (quiet.of === of)
        return;
    quiet.of = of;
    const rows = now.streams.reduce((sum, stream) => sum + stream.rows, 0);
    quiet.text = rows ? "no episode so far" : now.streams.length ? "no rows yet" : "";
    const names = now.streams.filter(stream => stream.episodes > 0).slice(0, STREAMS_ASKED);
    const latest = await Promise.all(names.map(async ({ name }) => {
        const answer = await ask(path(name, "/episodes", { limit: 1 })).catch(() => null);
        return answer?.episodes[0];
    }));
    const last = latest.filter(Boolean).sort((a, b) => (b.ended ?? 0) - (a.ended ?? 0))[0];
    if (last)
        quiet.text = `since ${last.ended == null ? `row ${format.count(last.last_row)}` : format.time(last.ended)}; ` +
                     `the last episode: ${format.short(format.reason(last))}${last.key == null ? "" : ` on ${format.short(last.key, 40)}`}`;
    setText($("now-note"), quiet.text);
}

// Forgets what was composed for another time zone.
export const forgetTexts = () => { quiet.of = -1; };

// A screen reader hears of new episodes, in one sentence however many there are.
function announce(episodes) {
    const names = new Set(episodes.map(nameOf));
    const fresh = known ? episodes.filter(episode => !known.has(nameOf(episode))) : [];
    known = names;
    if (!fresh.length)
        return;
    const worst = fresh[0];
    const text = `${format.short(format.reason(worst))} ${format.since(worst)}${worst.key == null ? "" : `, on ${format.short(worst.key, 40)}`}`;
    setText($("announce"), fresh.length === 1 ? `New episode: ${text}` : `${fresh.length} new episodes; the worst: ${text}`);
}
