// A useless alert: a rule that mutes others like it is proposed, added and removed.
import { ask, path } from "./server.js";
import { $, el, fill, setText, show } from "./dom.js";
import * as format from "./format.js";

let of = null, episode = null, proposal = null, page = null;

const nameOf = (where, one) => one && JSON.stringify([where.stream, where.key, one.number]);

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

// Rules are the setting "mute", in the order in which the stream lists them with their counts.
async function changeRules(name, edit) {
    const stream = await ask(path(name)), mute = edit([stream.settings.mute ?? []].flat(), stream.rules);
    await ask(path(name), { method: "PATCH", body: JSON.stringify({ mute: mute.length ? mute : null }), headers: { "Content-Type": "application/json" } });
    page.onChange();
}

const propose = byEpisode(async () => {
    const name = nameOf(of, episode), { rule } = await ask(path(of.stream, "/proposal", { episode: episode.number, key: episode.key }));
    if (!rule)
        throw new Error("no rule describes this episode");
    if (name === nameOf(of, episode))
        proposal = rule;
});

const mute = byEpisode(async () => {
    await changeRules(of.stream, rules => [...rules, proposal]);
    proposal = null;
});

const remove = byRule((stream, rule) => changeRules(stream, (rules, listed) => rules.filter((_, i) => listed[i]?.rule !== rule)));

// ---- The chosen episode ----

function render() {
    show($("episode"), episode !== null);
    if (!episode)
        return;
    const { began, ended } = episode, start = began == null ? `row ${format.count(episode.first_row)}` : format.time(began);
    const when = episode.open ? `open since ${start}` : began == null || ended == null ? start : `${start} – ${format.endTime(began, ended)}`;
    setText($("episode-title"), `${format.reason(episode)}, ${when}`);
    show($("episode-silent"), episode.ended_by === "silence");
    show($("episode-tools"), page.mayWrite());
    show($("proposal"), proposal !== null && page.mayWrite());
    setText($("proposal-rule"), format.short(proposal ?? "", 2000));
}

// where: { stream, key }; one: the episode that the page shows, or null
export function showEpisode(where, one) {
    const isOther = nameOf(where, one) !== nameOf(of ?? {}, episode);
    of = where;
    episode = one ?? null;
    if (isOther) {
        show($("episode-error"), false);
        proposal = null;
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
        show(button, page.mayWrite());
        button.setAttribute("aria-label", `Remove the rule: ${format.short(rule.rule, 2000)}`);
        button.onclick = () => remove(stream.name, rule.rule);
    });
}

// given: { mayWrite, onChange }
export function startFeedback(given) {
    page = given;
    $("propose").onclick = propose;
    $("mute").onclick = mute;
}
