// What is wrong now: the incidents of all streams, the worst first, or since when all is quiet.
import { ask, path } from "./server.js";
import { $, el, fill, isBusy, keepOrder, setGrade, setText } from "./dom.js";
import * as format from "./format.js";
import { openIncidents, renderEnded, renderMany } from "./incidents.js";
import { besidesText, headline, learningKeysText } from "./states.js";

const SHOWN = 50, STREAMS_ASKED = 20;
const nameOf = episode => JSON.stringify([episode.stream, episode.key, episode.number]);

let shown = [], wrong = [], known = null, quiet = { of: -1, text: "" }, latest = null, downSince = null;

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
    setText(what.firstChild, format.reason(episode));
    setText(what.lastChild, ` ${format.since(episode)}${episode.state === "recovering" ? ", recovering" : ""}`);
    setText(where, [isMany ? episode.stream : "", format.short(episode.key ?? "", 60)].filter(Boolean).join(" / "));
    button.onclick = () => onChoose(episode);
    button.removeAttribute("aria-expanded");
    button.setAttribute("aria-current", episode.stream === chosen.stream && (episode.key ?? null) === chosen.key);
    button.parentNode.querySelector(".members")?.remove();
}

// { state, title, note, short: in the title of the window }
function titleOf(now, total) {
    if (downSince != null)
        return { state: "unsure", title: "Connection lost", note: `what is shown is from ${format.time(downSince, true)}`, short: "oif: connection lost" };
    if (total > 0)
        return { state: "wrong", title: `${format.count(total)} open ${total === 1 ? "incident" : "incidents"}`, note: openText(now, total),
                 short: `(${total}) oif: ${format.short(now.episodes[0] ? format.reason(now.episodes[0]) : "anomalous", 40)}` };
    if (!now.streams.length)
        return { state: "wait", title: "Nothing is watched yet", note: "", short: "oif" };
    const other = headline(now.streams);
    return other ? { ...other, short: `oif: ${other.title}` } : { state: "quiet", title: "All quiet", note: quietNote(now), short: "oif: all quiet" };
}

function renderTitle(now, total) {
    latest = { now, total };
    const { state, title, note, short } = titleOf(now, total);
    $("now").dataset.state = state;
    setText($("now-title"), title);
    setText($("now-note"), note);
    document.title = short;
    if (state === "quiet")
        findQuiet(now);
}

// The page never looks quiet while it does not know.
export function setDown(isDown) {
    const was = downSince;
    downSince = isDown ? downSince ?? Date.now() / 1000 : null;
    if (latest && was !== downSince)
        renderTitle(latest.now, latest.total);
}

// "7 open episodes, worst first"
function openText(now, total) {
    const open = now.open ?? now.episodes.length, isCut = total >= SHOWN && open > SHOWN;
    const episodes = open === total ? "" : `${format.count(open)} open episodes, `;
    const besides = besidesText(now.streams);
    return episodes + (isCut ? `the worst ${SHOWN} are shown` : "worst first") + (besides && `; ${besides}`);
}

const quietNote = ({ streams }) => quiet.text + learningKeysText(streams);

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
                     `the last episode: ${format.reason(last)}${last.key == null ? "" : ` on ${format.short(last.key, 40)}`}`;
    if ($("now").dataset.state === "quiet")
        setText($("now-note"), quietNote(now));
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
    const text = `${format.reason(worst)} ${format.since(worst)}${worst.key == null ? "" : `, on ${format.short(worst.key, 40)}`}`;
    setText($("announce"), fresh.length === 1 ? `New episode: ${text}` : `${fresh.length} new episodes; the worst: ${text}`);
}
