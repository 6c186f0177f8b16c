#include "pipeline/rules/proposals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COLUMNS_MAX = 8, NAME_BYTES = 64 };

/* How much larger than the largest useless change (docs/measurements/feedback.md). A tight margin
 * only rounds up. */
static const double usual_margin = 2, tight_margin = 1.01;

/* ---- Trying ---- */

oif_rule_trial oif_rules_try(const oif_past_episodes *past, const oif_rule *rules, size_t count,
                             const oif_rule_columns *columns, bool *is_held)
{
    oif_rule_trial trial = {.episodes = past->count};
    for (size_t i = 0; i < past->count; i++) {
        const bool held = oif_past_is_held(&past->list[i], rules, count, columns);
        trial.held += held;
        trial.useless_held += held && past->list[i].mark == OIF_MARK_USELESS;
        trial.real_held += held && past->list[i].mark == OIF_MARK_REAL;
        if (is_held)
            is_held[i] = held;
    }
    return trial;
}

/* ---- Kinds ---- */

typedef struct proposer {
    const oif_past_episodes *past;
    const oif_rule_columns *columns;
    bool has_keys;
    bool is_open[OIF_PAST_EPISODES_MAX]; /* useless, and not held back by a rule */
} proposer;

static size_t source_of(const proposer *p, const oif_alert_cause *cause)
{
    return oif_derived_source(p->columns->plan, cause->column, &(oif_derive){OIF_DERIVE_NONE});
}

static bool is_same_kind(const proposer *p, const oif_past *a, const oif_past *b)
{
    const oif_alert_causes *x = &a->causes, *y = &b->causes;
    return x->count > 0 && y->count > 0 && x->reason == y->reason &&
           x->list[0].direction == y->list[0].direction &&
           source_of(p, &x->list[0]) == source_of(p, &y->list[0]);
}

/* Whether all episodes of a kind are of one key. */
static bool is_of_one_key(const proposer *p, const oif_past *kind)
{
    for (size_t i = 0; i < p->past->count; i++)
        if (is_same_kind(p, kind, &p->past->list[i]) &&
            !oif_past_is_same_key(kind, &p->past->list[i]))
            return false;
    return true;
}

/* What the open episodes of a kind have together. */
typedef struct draft {
    const oif_past *kind; /* the first one */
    bool is_missing;      /* the kind is about values that are missing */
    bool is_one_direction;
    const oif_alert_cause *columns[COLUMNS_MAX];
    size_t column_count;
    double change, change_share; /* the largest */
} draft;

static void include_cause(const proposer *p, draft *d, const oif_alert_cause *cause)
{
    size_t at = 0;
    if (d->is_missing != (d->kind->causes.reason == OIF_REASON_VALUES && cause->direction == 0))
        return; /* a size is not a condition for both */
    while (at < d->column_count && source_of(p, d->columns[at]) != source_of(p, cause))
        at++;
    if (at == COLUMNS_MAX)
        return;
    d->columns[at] = cause;
    d->column_count += at == d->column_count;
    d->is_one_direction &= cause->direction == d->kind->causes.list[0].direction;
    d->change = cause->change > d->change ? cause->change : d->change;
    d->change_share = cause->change_share > d->change_share ? cause->change_share : d->change_share;
}

/* The columns, the highest share first, that have half of the shares. */
static void include_episode(const proposer *p, draft *d, const oif_alert_causes *causes)
{
    double open = 0, held = 0;
    for (uint32_t i = 0; i < causes->count; i++)
        open += causes->list[i].share;
    for (uint32_t i = 0; i < causes->count && held < open - held; i++) {
        include_cause(p, d, &causes->list[i]);
        held += causes->list[i].share;
    }
}

static draft draft_of(const proposer *p, const oif_past *kind)
{
    draft d = {.kind = kind,
               .is_missing =
                   kind->causes.reason == OIF_REASON_VALUES && kind->causes.list[0].direction == 0,
               .is_one_direction = true,
               .change = -INFINITY,
               .change_share = -INFINITY};
    for (size_t i = 0; i < p->past->count; i++)
        if (p->is_open[i] && is_same_kind(p, kind, &p->past->list[i]))
            include_episode(p, &d, &p->past->list[i].causes);
    return d;
}

/* ---- Text ---- */

typedef struct rule_text {
    char *text;
    size_t bytes, capacity;
    bool is_full;
} rule_text;

static void put(rule_text *to, const char *text, size_t bytes)
{
    if (bytes >= to->capacity - to->bytes) {
        to->is_full = true;
        return;
    }
    memcpy(to->text + to->bytes, text, bytes);
    to->bytes += bytes;
    to->text[to->bytes] = '\0';
}

static void put_text(rule_text *to, const char *text)
{
    put(to, text, strlen(text));
}

/* A text as a pattern that matches it. Characters with a meaning in rules become ?, and so do those
 * that a terminal would obey. A long text is cut. */
static void put_pattern(rule_text *to, oif_text text, size_t most_bytes, bool is_cut)
{
    const size_t bytes = text.bytes < most_bytes ? text.bytes : most_bytes;
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)text.text[i];
        put(to, c < ' ' || c == 0x7f || strchr("\"*,=", c) ? "?" : (const char *)&text.text[i], 1);
    }
    if (is_cut || bytes < text.bytes)
        put_text(to, "*");
}

static void put_columns(rule_text *to, const proposer *p, const draft *d)
{
    put_text(to, " column=\"");
    for (size_t i = 0; i < d->column_count; i++) {
        char number[OIF_COLUMN_NUMBER_BYTES];
        const oif_text name = oif_rule_column_name(p->columns, d->columns[i]->column, number);
        to->is_full |= name.bytes == 0; /* no pattern matches it alone */
        put_text(to, i > 0 ? "," : "");
        put_pattern(to, name, NAME_BYTES, false);
    }
    put_text(to, "\"");
}

/* Whether an episode is the first open one of this kind and its key. */
static bool is_first_of_key(const proposer *p, const draft *d, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (p->is_open[j] && is_same_kind(p, d->kind, &p->past->list[j]) &&
            oif_past_is_same_key(&p->past->list[i], &p->past->list[j]))
            return false;
    return p->is_open[i] && is_same_kind(p, d->kind, &p->past->list[i]);
}

static void put_keys(rule_text *to, const proposer *p, const draft *d)
{
    const char *before = " key=\"";
    for (size_t i = 0; i < p->past->count; i++) {
        const oif_past *episode = &p->past->list[i];
        if (!is_first_of_key(p, d, i))
            continue;
        to->is_full |= episode->key_bytes == 0; /* no pattern matches it alone */
        put_text(to, before);
        put_pattern(to, oif_past_key(episode), OIF_PAST_KEY_BYTES,
                    episode->key_bytes > OIF_PAST_KEY_BYTES);
        before = ",";
    }
    put_text(to, "\"");
}

/* With two digits, rounded up. */
static void put_rounded(rule_text *to, double limit)
{
    int exponent = 0;
    for (; limit >= 100; exponent++)
        limit /= 10;
    for (; limit < 10; exponent--)
        limit *= 10;
    char text[OIF_NUMBER_TEXT_BYTES];
    const int down = (int)limit, up = down + (down < limit);
    const int bytes = snprintf(text, sizeof text, "%de%d", up, exponent);
    oif_number_parse(text, text + bytes, &limit);
    put(to, text, oif_number_format(limit, text));
}

/* In the unit of the column if there is one, else in percent. */
static void put_change(rule_text *to, const draft *d, bool is_one_key, double margin)
{
    const bool is_absolute = d->column_count == 1 && is_one_key && d->change > 0;
    const double limit = (is_absolute ? d->change : d->change_share * 100) * margin;
    if (!(limit >= 0) || isinf(limit))
        return;
    put_text(to, " change<");
    if (limit > 0)
        put_rounded(to, limit);
    put_text(to, is_absolute ? "" : limit > 0 ? "%" : "1%");
}

/* Removes the quotes of values that need none. */
static void simplify(rule_text *to)
{
    char *end = to->text;
    bool needs = false;
    for (char *at = to->text; *at; at++) {
        if (*at == '"' && at[-1] == '=')
            needs = memchr(at, ' ', strcspn(at + 1, "\"") + 1);
        if (*at != '"' || needs)
            *end++ = *at;
    }
    *end = '\0';
    to->bytes = (size_t)(end - to->text);
}

static const char *direction_of(const draft *d)
{
    const int32_t direction = d->kind->causes.list[0].direction;
    return d->is_missing          ? " direction=missing"
           : !d->is_one_direction ? ""
           : direction > 0        ? " direction=high"
           : direction < 0        ? " direction=low"
                                  : "";
}

/* ---- Proposals ---- */

/* How wide a rule is. */
typedef struct width {
    double margin;
    bool is_any_key; /* unless the kind is of one key */
} width;

/* Returns false if the text does not fit, or if no pattern says it. */
static bool write_rule(const proposer *p, const draft *d, const width *w, oif_proposal *proposal,
                       oif_rule *rule)
{
    rule_text to = {.text = proposal->rule, .capacity = sizeof proposal->rule};
    const bool is_one_key = is_of_one_key(p, d->kind), has_keys = p->has_keys && is_one_key;
    put_text(&to, "mute");
    put_columns(&to, p, d);
    put_text(&to, direction_of(d));
    put_text(&to, " reason=");
    put_text(&to, oif_rule_reason_word((oif_reason)d->kind->causes.reason));
    put_change(&to, d, is_one_key, w->margin);
    if (!w->is_any_key || (has_keys && d->kind->key_bytes > 0))
        put_keys(&to, p, d);
    if (to.is_full)
        return false;
    simplify(&to);
    return oif_rule_parse(rule, to.text, to.bytes, 1, NULL) == OIF_OK;
}

/* Counts what a rule would have done. Returns false if it would have held back an episode that was
 * marked real, or no open one. */
static bool judge(const proposer *p, const draft *d, const oif_rule *rule, oif_proposal *proposal)
{
    bool is_held[OIF_PAST_EPISODES_MAX];
    const oif_text key = oif_rule_text(rule, rule->key);
    size_t open_held = 0;
    proposal->trial = oif_rules_try(p->past, rule, 1, p->columns, is_held);
    proposal->kind_episodes = proposal->kind_held = proposal->kind_useless = 0;
    for (size_t i = 0; i < p->past->count; i++) {
        const oif_past *episode = &p->past->list[i];
        open_held += is_held[i] && p->is_open[i];
        if (!is_same_kind(p, d->kind, episode) ||
            (key.bytes > 0 && !oif_pattern_matches(key, oif_past_key(episode))))
            continue;
        proposal->kind_episodes++;
        proposal->kind_held += is_held[i];
        proposal->kind_useless += episode->mark == OIF_MARK_USELESS;
    }
    return open_held > 0 && proposal->trial.real_held == 0;
}

/* The widest rule that holds back no real one. */
static bool propose(const proposer *p, const oif_past *kind, oif_proposal *proposal)
{
    const width widths[] = {
        {usual_margin, true}, {usual_margin, false}, {tight_margin, true}, {tight_margin, false}};
    const draft d = draft_of(p, kind);
    *proposal = (oif_proposal){.rule = ""};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        oif_rule rule;
        if (write_rule(p, &d, &widths[i], proposal, &rule) && judge(p, &d, &rule, proposal))
            return true;
    }
    return false;
}

static bool is_first_of_kind(const proposer *p, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (p->is_open[j] && is_same_kind(p, &p->past->list[i], &p->past->list[j]))
            return false;
    return p->is_open[i];
}

size_t oif_rules_propose(const oif_past_episodes *past, const oif_rules *rules,
                         const oif_rule_columns *columns, bool has_keys, oif_proposal *proposals,
                         size_t capacity)
{
    proposer p = {.past = past, .columns = columns, .has_keys = has_keys};
    size_t count = 0;
    for (size_t i = 0; i < past->count; i++)
        p.is_open[i] =
            past->list[i].mark == OIF_MARK_USELESS && past->list[i].causes.count > 0 &&
            !(rules && oif_past_is_held(&past->list[i], rules->list, rules->count, columns));
    for (size_t i = 0; i < past->count; i++) {
        oif_proposal proposal;
        if (!is_first_of_kind(&p, i) || !propose(&p, &past->list[i], &proposal))
            continue;
        if (count < capacity)
            proposals[count] = proposal;
        count++;
    }
    return count;
}
