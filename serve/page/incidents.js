// Incidents: episodes that began together. The open ones with their members, and those that are over.
import { ask } from "./server.js";
import { $, el, fill, setGrade, setText, show } from "./dom.js";
import * as format from "./format.js";

const ASKED = 150, MEMBERS_SHOWN = 64;
const seconds = text => text == null ? null : Date.parse(text) / 1000;

let records = [], turn = 0;
const opened = new Set();

const idOf = (stream, number) => `${stream} ${number}`; // each stream counts its own

export async function loadIncidents() {
    const mine = ++turn, answer = await ask(`/api/v1/incidents?limit=${ASKED}`);
    if (mine === turn)
        records = answer.incidents.map(record => ({ ...record, id: idOf(record.worst.stream, record.id) }));
}

const isOpen = record => record.incident !== "ends";

// The open ones, the one with the worst open episode first, as the server sends them. An episode without an incident is a line of its own.
export function openIncidents(episodes) {
    const open = records.filter(isOpen), ids = new Set(open.map(record => record.id));
    const alone = episodes.filter(episode => !ids.has(idOf(episode.stream, episode.incident))).map(episode => ({
        id: JSON.stringify([episode.stream, episode.key, episode.number]), members: 1, grade: episode.grade,
        peak: episode.peak_severity, episode }));
    const isWorst = (episode, { worst }) => episode.stream === worst.stream && episode.number === worst.episode &&
        (episode.key ?? "").startsWith(worst.key);
    const known = open.map(record => ({ ...record, episode: episodes.find(one => isWorst(one, record)) }));
    return [...known, ...alone].sort((a, b) => b.peak - a.peak);
}

// A record cuts a key of more than 96 bytes; the open episode has all of it.
function placeOf(member, episodes = []) {
    const isIt = episode => episode.stream === member.stream && episode.number === member.episode &&
        episode.key?.startsWith(member.key);
    const key = episodes.find(isIt)?.key ?? member.key;
    return { stream: member.stream, key: key === "" ? null : key, number: member.episode };
}

// "and 3 more since 12:15, severity 5.2; all share rack-1"
function moreText(incident) {
    const more = incident.members - 1, [shared] = incident.shared;
    const what = shared && format.short(shared.part ?? shared.column, 40);
    return `${more ? ` and ${format.count(more)} more` : ""} since ${format.time(seconds(incident.start))}, severity ${format.severity(incident.peak)}${
        shared ? `; all share ${what}` : ""}`;
}

const nameOf = (member, isMany) => [isMany ? member.stream : "", format.short(member.key, 60)].filter(Boolean).join(" / ");

function makeMember() {
    return el("li", {}, el("button", { type: "button" }, el("span", { className: "badge" }),
                           el("span", { className: "what" }, el("strong"), el("span")), el("span", { className: "where" })));
}

function renderMembers(row, incident, { chosen, onChoose, isMany, episodes }) {
    const list = row.querySelector(".members") ?? row.appendChild(el("ol", { className: "members" }));
    list.dataset.more = incident.members > MEMBERS_SHOWN ? `${MEMBERS_SHOWN} of ${format.count(incident.members)} are shown` : "";
    const isOver = member => member.end != null, order = [...incident.order].sort((a, b) => isOver(a) - isOver(b)); // open ones first, as they began
    fill(list, order.slice(0, MEMBERS_SHOWN), makeMember, (item, member) => {
        const button = item.firstChild, [badge, what, where] = button.children, place = placeOf(member, episodes);
        setGrade(badge, member.grade);
        item.dataset.past = isOver(member);
        setText(what.firstChild, nameOf(member, isMany) || member.stream);
        setText(what.lastChild, ` ${format.short(member.column)}`);
        setText(where, `${format.time(seconds(member.start), true)} – ${member.end == null ? "open" : format.time(seconds(member.end), true)}`);
        button.setAttribute("aria-current", place.stream === chosen.stream && place.key === chosen.key);
        button.onclick = () => onChoose(place);
    });
}

export function renderMany(row, what, where, incident, choose) {
    const button = row.firstChild;
    setText(what.firstChild, format.reason(incident));
    setText(what.lastChild, moreText(incident));
    const name = nameOf(incident.worst, choose.isMany) || incident.worst.stream;
    button.removeAttribute("aria-current");
    if (incident.members === 1) { // such as a stream without data, which is no episode
        setText(where, name);
        button.removeAttribute("aria-expanded");
        button.onclick = () => choose.onChoose(placeOf(incident.worst));
        row.querySelector(".members")?.remove();
        return;
    }
    setText(where, name);
    button.setAttribute("aria-expanded", opened.has(incident.id));
    button.onclick = () => {
        opened.has(incident.id) ? opened.delete(incident.id) : opened.add(incident.id);
        renderMany(row, what, where, incident, choose);
        if (opened.has(incident.id) && incident.episode && !matchMedia("(max-width: 60rem)").matches)
            choose.onChoose(incident.episode); // a narrow screen would move away from the members
    };
    if (opened.has(incident.id))
        renderMembers(row, incident, choose);
    else
        row.querySelector(".members")?.remove();
}

// ---- Those that are over ----

export function renderEnded(onChoose) {
    const over = records.filter(record => !isOpen(record));
    show($("ended"), over.length > 0);
    setText($("ended-title"), `${format.count(over.length)} ended ${over.length === 1 ? "incident" : "incidents"}`);
    fill($("ended-list"), over, makeMember, (item, record) => {
        const button = item.firstChild, [badge, what, where] = button.children;
        setGrade(badge, record.grade);
        setText(what.firstChild, format.reason(record));
        setText(what.lastChild, ` ${record.members > 1 ? `and ${format.count(record.members - 1)} more, ` : ""}${
            format.time(seconds(record.start))} – ${format.time(seconds(record.end))}`);
        setText(where, nameOf(record.worst, true));
        button.onclick = () => onChoose(placeOf(record.worst));
    });
}
