// Which column an episode's own no longer follows: the episode does not know, its alerts do.
import { ask, path } from "./server.js";
import * as format from "./format.js";

const UNNAMED = "another column", ALERTS = 20, KEPT = 200, KEY_LIMIT = 2000;
const known = new Map(); // of the open episodes: a name, or "" while it is not known

const nameOf = ({ stream, key, number }) => JSON.stringify([stream, key, number]);

export function withPartner(text, partner) {
    return partner ? text.replace(UNNAMED, format.short(partner, 40)) : text;
}

async function find(episode) {
    const { stream, key, number, column } = episode;
    const { alerts } = await ask(path(stream, "/alerts", { key, limit: ALERTS }));
    const own = alerts.filter(alert => alert.episode === number).flatMap(alert => alert.reasons ?? []);
    known.set(nameOf(episode), own.find(reason => reason.partner && (column == null || reason.column === column))?.partner ?? "");
}

// The reason in words. The name is asked for once, and is there when the list is shown again.
export function reasonText(episode) {
    const text = format.reason(episode), name = nameOf(episode);
    if (text.includes(UNNAMED) && !known.has(name) && (episode.key ?? "").length < KEY_LIMIT) {
        if (known.size >= KEPT)
            known.clear();
        known.set(name, "");
        find(episode).catch(() => {}); // the rest of the page says that the server does not answer
    }
    return withPartner(text, known.get(name));
}
