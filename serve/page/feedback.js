// What people say about an episode: useless or real. And the rules that come of it.
import { ask, path } from "./server.js";
import { $, el, fill, setText, show } from "./dom.js";
import * as format from "./format.js";

let of = null, episode = null, marks = [], proposals = [], page = null, turn = 0;

const nameOf = (where, one) => one && JSON.stringify([where.stream, where.key, one.number]);
const isMine = past => past.number === episode.number &&
    (past.is_key_cut ? (episode.key ?? "").startsWith(past.key) : (past.key ?? null) === (episode.key ?? null));
const past = () => marks.findLast(isMine);

// ---- Asking ----

// Says what went wrong where the button is.
const guarded = (error, run) => async (...given) => {
    const buttons = $("episode").querySelectorAll("button");
    show(error(), false);
    buttons.forEach(button => { button.disabled = true; });
    try {
        await run(...given);
    } catch (failure) {
        setText(error(), [failure.message, failure.remedy].filter(Boolean).join(". "));
        show(error(), true);
    } finally {
        buttons.forEach(button => { button.disabled = false; });
        render();
    }
};

const byEpisode = run => guarded(() => $("episode-error"), run);
const byRule = run => guarded(() => $("rule-error"), run);

const send = (method, where, rest, body, query) => ask(path(where, rest, query), {
    method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
});

async function load() {
    const mine = ++turn, answer = await ask(path(of.stream, "/feedback"));
    if (mine !== turn)
        return;
    marks = answer.episodes;
    proposals = answer.proposals;
    render();
}

const mark = byEpisode(async word => {
    const { stream } = of, { number, key } = episode;
    await send("POST", stream, "/feedback", { episode: number, key, mark: past()?.mark === word ? "none" : word });
    await load();
});

const mute = byEpisode(async rule => {
    await send("POST", of.stream, "/rules", { rule });
    page.onChange();
    await load();
});

const remove = byRule(async (stream, rule) => {
    await send("DELETE", stream, "/rules", { rule });
    page.onChange();
});

// ---- The chosen episode ----

function renderProposals() {
    const wanted = page.mayWrite() && past()?.mark === "useless" ? proposals : [];
    const make = () => el("li", {}, el("code"), el("span", { className: "dim" }), el("button", { type: "button", textContent: "Mute" }));
    fill($("proposals"), wanted, make, (item, proposal) => {
        const [rule, effect, button] = item.children;
        setText(rule, format.short(proposal.rule, 2000));
        setText(effect, `would have muted ${format.count(proposal.kind_held)} of ${format.count(proposal.kind_episodes)} past episodes of this kind; ${
            format.count(proposal.real_held)} marked real`);
        button.setAttribute("aria-label", `Mute by this rule: ${format.short(proposal.rule, 2000)}`);
        button.onclick = () => mute(proposal.rule);
    });
    show($("proposals"), wanted.length > 0);
}

function render() {
    show($("episode"), episode !== null);
    if (!episode)
        return;
    const known = past(), { began, ended } = episode, start = began == null ? `row ${format.count(episode.first_row)}` : format.time(began);
    const when = episode.open ? `open since ${start}` : began == null || ended == null ? start : `${start} – ${format.endTime(began, ended)}`;
    setText($("episode-title"), `${format.short(format.reason(episode))}, ${when}`);
    show($("episode-silent"), episode.ended_by === "silence");
    show($("episode-tools"), page.mayWrite());
    for (const word of ["useless", "real"]) {
        const button = $(`mark-${word}`);
        show(button, known !== undefined);
        button.setAttribute("aria-pressed", known?.mark === word);
    }
    renderProposals();
}

// where: { stream, key }; one: the episode that the page shows, or null
export function showEpisode(where, one) {
    const isOther = nameOf(where, one) !== nameOf(of ?? {}, episode);
    of = where;
    episode = one ?? null;
    if (isOther) {
        show($("episode-error"), false);
        if (episode)
            load().catch(() => {}); // the rest of the page says that the server does not answer
    }
    render();
}

// ---- The rules of a stream ----

export function renderRules(stream) {
    const rules = stream.rules ?? [];
    show($("rules"), rules.length > 0);
    setText($("rules-title"), `Rules: ${format.count(rules.length)}`);
    const make = () => el("li", {}, el("code"), el("span", { className: "dim" }), el("button", { type: "button", textContent: "Remove" }));
    fill($("rule-list"), rules, make, (item, rule) => {
        const [text, count, button] = item.children;
        setText(text, format.short(rule.rule, 2000));
        const last = rule.last == null ? "" : `, the last ${format.time(rule.last)}`;
        setText(count, `held back ${format.count(rule.held)} ${rule.held === 1 ? "row" : "rows"}${last}`);
        show(button, page.mayWrite() && rule.rule.endsWith(" # feedback"));
        button.setAttribute("aria-label", `Remove the rule: ${format.short(rule.rule, 2000)}`);
        button.onclick = () => remove(stream.name, rule.rule);
    });
}

// given: { mayWrite, onChange }
export function startFeedback(given) {
    page = given;
    $("mark-useless").onclick = () => mark("useless");
    $("mark-real").onclick = () => mark("real");
}
