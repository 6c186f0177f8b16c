#include "pipeline/rules/proposals.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 64 };

/* ---- What decides ---- */

/* What a rule says about an episode. */
typedef struct draft {
    const oif_past *episode;
    const oif_alert_cause *columns[OIF_ALERT_CAUSES_MAX];
    size_t column_count;
    bool is_missing; /* it is about values that are missing */
    bool is_one_direction;
    double change, change_share; /* the largest */
} draft;

static size_t source_of(const oif_derived_plan *plan, const oif_alert_cause *cause)
{
    return oif_derived_source(plan, cause->column, &(oif_derive){OIF_DERIVE_NONE});
}

static void include_cause(draft *d, const oif_derived_plan *plan, const oif_alert_cause *cause)
{
    const oif_alert_causes *causes = &d->episode->causes;
    size_t at = 0;
    if (d->is_missing != (causes->reason == OIF_REASON_VALUES && cause->direction == 0))
        return; /* a size is not a condition for both */
    while (at < d->column_count && source_of(plan, d->columns[at]) != source_of(plan, cause))
        at++;
    d->columns[at] = cause;
    d->column_count += at == d->column_count;
    d->is_one_direction &= cause->direction == causes->list[0].direction;
    d->change = cause->change > d->change ? cause->change : d->change;
    d->change_share = cause->change_share > d->change_share ? cause->change_share : d->change_share;
}

/* The columns, the highest share first, that have half of the shares. */
static draft draft_of(const oif_past *episode, const oif_derived_plan *plan)
{
    const oif_alert_causes *causes = &episode->causes;
    draft d = {.episode = episode,
               .is_missing = causes->reason == OIF_REASON_VALUES && causes->list[0].direction == 0,
               .is_one_direction = true,
               .change = -INFINITY,
               .change_share = -INFINITY};
    double open = 0, held = 0;
    for (uint32_t i = 0; i < causes->count; i++)
        open += causes->list[i].share;
    for (uint32_t i = 0; i < causes->count && held < open - held; i++) {
        include_cause(&d, plan, &causes->list[i]);
        held += causes->list[i].share;
    }
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

/* As rules name it: the column in the row that the learned column is made from. */
static void put_columns(rule_text *to, const draft *d, const oif_rule_columns *columns)
{
    put_text(to, " column=\"");
    for (size_t i = 0; i < d->column_count; i++) {
        char number[OIF_COLUMN_NUMBER_BYTES];
        const oif_text name = oif_rule_column_name(columns, d->columns[i]->column, number);
        to->is_full |= name.bytes == 0; /* no pattern matches it alone */
        put_text(to, i > 0 ? "," : "");
        put_pattern(to, name, NAME_BYTES, false);
    }
    put_text(to, "\"");
}

static void put_key(rule_text *to, const oif_past *episode)
{
    to->is_full |= episode->key_bytes == 0; /* no pattern matches it alone */
    put_text(to, " key=\"");
    put_pattern(to, oif_past_key(episode), OIF_PAST_KEY_BYTES,
                episode->key_bytes > OIF_PAST_KEY_BYTES);
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
static void put_change(rule_text *to, const draft *d)
{
    const bool is_absolute = d->column_count == 1 && d->change > 0;
    const double limit = is_absolute ? d->change : d->change_share * 100;
    if (!(limit >= 0) || isinf(limit))
        return;
    put_text(to, " change<");
    if (limit > 0)
        put_rounded(to, limit * 1.01); /* the condition is "less than" */
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
    const int32_t direction = d->episode->causes.list[0].direction;
    return d->is_missing          ? " direction=missing"
           : !d->is_one_direction ? ""
           : direction > 0        ? " direction=high"
           : direction < 0        ? " direction=low"
                                  : "";
}

/* Values far off are reported now for one of the first four reasons and now for another. */
static void put_reason(rule_text *to, const draft *d)
{
    const oif_reason reason = (oif_reason)d->episode->causes.reason;
    if (reason == OIF_REASON_VALUES || reason == OIF_REASON_JUMP || reason == OIF_REASON_LEVEL ||
        reason == OIF_REASON_SPREAD)
        return;
    put_text(to, " reason=");
    put_text(to, oif_rule_reason_word(reason));
}

bool oif_rules_propose(const oif_past *episode, const oif_rule_columns *columns, bool has_keys,
                       char rule[OIF_RULE_BYTES])
{
    rule_text to = {.text = rule, .capacity = OIF_RULE_BYTES};
    oif_rule parsed;
    *rule = '\0';
    if (episode->causes.count == 0)
        return false;
    const draft d = draft_of(episode, columns->plan);
    put_text(&to, "mute");
    put_columns(&to, &d, columns);
    put_text(&to, direction_of(&d));
    put_reason(&to, &d);
    put_change(&to, &d);
    if (has_keys)
        put_key(&to, episode);
    if (!to.is_full)
        simplify(&to);
    return !to.is_full && oif_rule_parse(&parsed, to.text, to.bytes, 1, NULL) == OIF_OK;
}
