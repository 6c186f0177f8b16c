#include "pipeline/rules/rule.h"

#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Patterns ---- */

static bool matches_one(const char *pattern, const char *pattern_end, const char *text,
                        const char *text_end)
{
    const char *star = NULL, *after_star = NULL;
    while (text < text_end) {
        if (pattern < pattern_end && *pattern == '*') {
            star = pattern++;
            after_star = text;
        } else if (pattern < pattern_end && (*pattern == '?' || *pattern == *text)) {
            pattern++;
            text++;
        } else if (star) { /* the star takes one more */
            pattern = star + 1;
            text = ++after_star;
        } else {
            return false;
        }
    }
    while (pattern < pattern_end && *pattern == '*')
        pattern++;
    return pattern == pattern_end;
}

bool oif_pattern_matches(oif_text pattern, oif_text text)
{
    const char *at = pattern.text, *end = pattern.text + pattern.bytes;
    for (;;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        if (matches_one(at, comma ? comma : end, text.text, text.text + text.bytes))
            return true;
        if (!comma)
            return false;
        at = comma + 1;
    }
}

/* ---- Words ---- */

static bool is_word(oif_text text, const char *word)
{
    return text.bytes == strlen(word) && memcmp(text.text, word, text.bytes) == 0;
}

/* The number of a word in a list that ends with NULL; -1: it is not there. */
static int find_word(const char *const *words, oif_text text)
{
    for (int i = 0; words[i]; i++)
        if (is_word(text, words[i]))
            return i;
    return -1;
}

static const char *const day_words[] = {"mon", "tue", "wed", "thu", "fri", "sat", "sun", NULL};

/* In the order of oif_reason. */
static const char *const reason_words[] = {"values",  "jump",   "level",   "spread",  "stuck",
                                           "missing", "season", "partner", "silence", "new",
                                           "rare",    "first",  NULL};

const char *oif_rule_reason_word(oif_reason reason)
{
    return reason_words[reason];
}

/* ---- Values ---- */

/* The part of a list before the next comma, which is taken off it. */
static oif_text next_item(oif_text *list)
{
    const char *comma = memchr(list->text, ',', list->bytes);
    oif_text item = {list->text, comma ? (size_t)(comma - list->text) : list->bytes};
    list->text += item.bytes + (comma != NULL);
    list->bytes -= item.bytes + (comma != NULL);
    return item;
}

/* mon-fri,sun */
static bool take_days(oif_rule *rule, oif_text value)
{
    while (value.bytes > 0) {
        oif_text item = next_item(&value), first = item;
        const char *dash = memchr(item.text, '-', item.bytes);
        if (dash)
            first.bytes = (size_t)(dash - item.text);
        const oif_text last = dash ? (oif_text){dash + 1, item.bytes - first.bytes - 1} : first;
        int day = find_word(day_words, first);
        const int end = find_word(day_words, last);
        if (day < 0 || end < 0)
            return false;
        for (; day != end; day = (day + 1) % 7)
            rule->days |= 1u << day;
        rule->days |= 1u << end;
    }
    return rule->days != 0;
}

static bool take_reasons(oif_rule *rule, oif_text value)
{
    while (value.bytes > 0) {
        const int reason = find_word(reason_words, next_item(&value));
        if (reason < 0)
            return false;
        rule->reasons |= 1u << reason;
    }
    return rule->reasons != 0;
}

static bool take_direction(oif_rule *rule, oif_text value)
{
    rule->direction = is_word(value, "high")      ? 1
                      : is_word(value, "low")     ? -1
                      : is_word(value, "missing") ? OIF_RULE_MISSING
                                                  : 0;
    return rule->direction != 0;
}

static bool take_change(oif_rule *rule, oif_text value)
{
    const char *end = value.text + value.bytes;
    const char *after = oif_number_parse(value.text, end, &rule->change);
    rule->is_percent = after && after == end - 1 && *after == '%';
    return after && after + rule->is_percent == end && rule->change > 0 && isfinite(rule->change);
}

/* hh:mm */
static bool take_clock(const char **at, const char *end, int32_t *seconds)
{
    const char *c = *at;
    if (end - c < 5 || c[0] < '0' || c[0] > '2' || c[1] < '0' || c[1] > '9' || c[2] != ':' ||
        c[3] < '0' || c[3] > '5' || c[4] < '0' || c[4] > '9')
        return false;
    *seconds = ((c[0] - '0') * 10 + (c[1] - '0')) * 3600 + ((c[3] - '0') * 10 + (c[4] - '0')) * 60;
    *at = c + 5;
    return *seconds <= 86400;
}

/* 22:00-04:00 */
static bool take_time(oif_rule *rule, oif_text value)
{
    const char *at = value.text, *end = value.text + value.bytes;
    return take_clock(&at, end, &rule->day_from) && at < end && *at++ == '-' &&
           take_clock(&at, end, &rule->day_to) && at == end && rule->day_from != rule->day_to;
}

static bool take_moment(double *moment, oif_text value)
{
    oif_time_format format = {.form = OIF_TIME_FORM_NONE};
    return oif_time_parse(&format, value.text, value.bytes, moment, NULL) == OIF_OK &&
           !isnan(*moment);
}

static bool take_from(oif_rule *rule, oif_text value)
{
    return take_moment(&rule->from, value);
}

static bool take_until(oif_rule *rule, oif_text value)
{
    return take_moment(&rule->until, value);
}

static oif_rule_part part_of(const oif_rule *rule, oif_text value)
{
    return (oif_rule_part){(uint32_t)(value.text - rule->text), (uint32_t)value.bytes};
}

/* No item of a list is empty. */
static bool is_list(oif_text value)
{
    bool is_full = value.bytes > 0 && value.text[value.bytes - 1] != ',';
    while (is_full && value.bytes > 0)
        is_full = next_item(&value).bytes > 0;
    return is_full;
}

static bool take_column(oif_rule *rule, oif_text value)
{
    rule->columns = part_of(rule, value);
    return is_list(value);
}

static bool take_key(oif_rule *rule, oif_text value)
{
    rule->key = part_of(rule, value);
    return is_list(value);
}

static bool take_zone(oif_rule *rule, oif_text value)
{
    return oif_zone_parse(&rule->zone, value.text, value.bytes);
}

static const struct condition {
    const char *name; /* with its sign */
    const char *example;
    bool (*take)(oif_rule *rule, oif_text value);
} conditions[] = {
    {"column=", "latency or disk_*", take_column},
    {"direction=", "high, low or missing", take_direction},
    {"change<", "20% or 5, in the unit of the column", take_change},
    {"reason=",
     "values, jump, level, spread, stuck, missing, season, partner, silence, new, rare or first",
     take_reasons},
    {"key=", "db-*", take_key},
    {"time=", "22:00-04:00", take_time},
    {"days=", "mon-fri,sun", take_days},
    {"zone=", "Europe/Berlin, +02:00 or UTC", take_zone},
    {"from=", "2026-11-17T22:00:00Z", take_from},
    {"until=", "2026-11-18T02:00:00Z", take_until},
};
enum { CONDITIONS = sizeof conditions / sizeof *conditions };

/* ---- Parsing ---- */

/* The text of a rule with the place of the next word. */
typedef struct rule_reader {
    oif_rule *rule;
    char *at, *end;
    uint64_t line;
    uint32_t given; /* a bit for each condition */
    oif_error *error;
} rule_reader;

static oif_status fail(const rule_reader *r, const char *at, const char *wrong, const char *name,
                       const char *example)
{
    return oif_fail_because_at(r->error, OIF_EPARAM, OIF_CAUSE_BAD_RULE, r->line,
                               (uint64_t)(at - r->rule->text) + 1, "%s%s%s%s", wrong, name,
                               *example ? ", such as " : "", example);
}

static void skip_spaces(rule_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
        r->at++;
}

static bool is_at_end(const rule_reader *r)
{
    return r->at == r->end || *r->at == '#';
}

/* Up to the next space, or in quotes. Returns false if the quotes are not closed. */
static bool take_value(rule_reader *r, oif_text *value)
{
    const bool is_quoted = r->at < r->end && *r->at == '"';
    char *start = r->at += is_quoted;
    while (r->at < r->end && (is_quoted ? *r->at != '"' : *r->at != ' ' && *r->at != '\t'))
        r->at++;
    *value = (oif_text){start, (size_t)(r->at - start)};
    if (is_quoted && r->at == r->end)
        return false;
    r->at += is_quoted;
    return true;
}

/* Replaces the name of a zone, which was just read, by its POSIX text. Returns false if the rule
 * gets too long. */
static bool rewrite_zone(rule_reader *r, oif_text *value)
{
    char posix[OIF_ZONE_TEXT_BYTES];
    oif_zone zone;
    if (oif_zone_parse(&zone, value->text, value->bytes) ||
        !oif_zone_find(value->text, value->bytes, posix))
        return true;
    const size_t bytes = strlen(posix), at = (size_t)(value->text - r->rule->text);
    char *start = r->rule->text + at;
    if (r->rule->text_bytes - value->bytes + bytes >= sizeof r->rule->text)
        return false;
    memmove(start + bytes, start + value->bytes, (size_t)(r->end - start) - value->bytes + 1);
    memcpy(start, posix, bytes);
    const ptrdiff_t more = (ptrdiff_t)bytes - (ptrdiff_t)value->bytes;
    r->at += more;
    r->end += more;
    r->rule->text_bytes = (uint32_t)(r->end - r->rule->text);
    value->bytes = bytes;
    return true;
}

static oif_status take_condition(rule_reader *r)
{
    const char *start = r->at;
    const struct condition *found = NULL;
    oif_text value;
    for (size_t i = 0; i < CONDITIONS && !found; i++)
        if (strncmp(r->at, conditions[i].name, strlen(conditions[i].name)) == 0)
            found = &conditions[i];
    if (!found)
        return fail(r, start, "not a condition of a rule", "", "column=latency");
    const uint32_t bit = 1u << (found - conditions);
    if (r->given & bit)
        return fail(r, start, "this is given twice: ", found->name, "");
    r->given |= bit;
    r->at += strlen(found->name);
    if (!take_value(r, &value))
        return fail(r, start, "a quote is not closed after ", found->name, "");
    if (found->take == take_zone && !rewrite_zone(r, &value))
        return fail(r, start, "the rule is too long", "", "");
    return found->take(r->rule, value)
               ? OIF_OK
               : fail(r, start, "not a value of ", found->name, found->example);
}

static oif_status take_verb(rule_reader *r)
{
    oif_text verb;
    if (!take_value(r, &verb))
        return fail(r, r->rule->text, "a quote is never closed", "", "");
    r->rule->ignores = is_word(verb, "ignore");
    if (!r->rule->ignores && !is_word(verb, "mute"))
        return fail(r, verb.text, "a rule begins with mute or ignore", "",
                    "mute column=latency direction=low");
    return OIF_OK;
}

/* Whether a rule about rows has only conditions that rows have. */
static oif_status check(const rule_reader *r)
{
    const oif_rule *rule = r->rule;
    if (!(rule->from < rule->until))
        return fail(r, rule->text, "the rule ends before it begins", "", "");
    if (rule->ignores &&
        (rule->columns.bytes > 0 || rule->direction || rule->change > 0 || rule->reasons))
        return fail(r, rule->text, "ignore is about whole rows: it has key and times only", "",
                    "ignore key=db-* time=02:00-04:00");
    return OIF_OK;
}

oif_status oif_rule_parse(oif_rule *rule, const char *text, size_t bytes, uint64_t line,
                          oif_error *error)
{
    *rule = (oif_rule){.from = -INFINITY,
                       .until = INFINITY,
                       .first_held = NAN,
                       .last_held = NAN,
                       .text_bytes = (uint32_t)bytes};
    rule_reader r = {.rule = rule, .at = rule->text, .line = line, .error = error};
    if (bytes >= sizeof rule->text || memchr(text, '\0', bytes) || memchr(text, '\n', bytes))
        return oif_fail_because_at(error, OIF_EPARAM, OIF_CAUSE_BAD_RULE, line, 1,
                                   "a rule is one line of at most %d bytes, and none is zero",
                                   OIF_RULE_TEXT_BYTES - 1);
    memcpy(rule->text, text, bytes);
    r.end = rule->text + bytes;
    skip_spaces(&r);
    oif_status status = take_verb(&r);
    for (skip_spaces(&r); status == OIF_OK && !is_at_end(&r); skip_spaces(&r))
        status = take_condition(&r);
    return status == OIF_OK ? check(&r) : status;
}

/* ---- Matching ---- */

static oif_zone_clock clock_of(const oif_rule *rule, double seconds, oif_rule_clocks *clocks)
{
    if (!clocks || rule->zone_number >= OIF_RULE_CLOCKS)
        return oif_zone_clock_at(&rule->zone, seconds);
    const uint32_t bit = 1u << rule->zone_number;
    if (!(clocks->known & bit))
        clocks->clocks[rule->zone_number] = oif_zone_clock_at(&rule->zone, seconds);
    clocks->known |= bit;
    return clocks->clocks[rule->zone_number];
}

static bool has_window(const oif_rule *rule)
{
    return rule->days != 0 || rule->day_from != rule->day_to;
}

static bool is_in_window(const oif_rule *rule, double seconds, oif_rule_clocks *clocks)
{
    if (!has_window(rule))
        return true;
    if (!(seconds > -6e10 && seconds < 2.5e11)) /* a time that has a date */
        return false;
    const oif_zone_clock now = clock_of(rule, seconds, clocks);
    const int32_t from = rule->day_from, to = rule->day_to;
    const bool is_over_night = from > to, is_after_midnight = is_over_night && now.second < to;
    /* What began on a Friday evening is a window of Friday. */
    const int32_t day = is_after_midnight ? (now.weekday + 6) % 7 : now.weekday;
    if (rule->days != 0 && !(rule->days >> day & 1))
        return false;
    return from == to || is_after_midnight ||
           (now.second >= from && (is_over_night || now.second < to));
}

bool oif_rule_is_in_force(const oif_rule *rule, oif_text key, double seconds,
                          oif_rule_clocks *clocks)
{
    const bool has_times = isfinite(rule->from) || isfinite(rule->until);
    return (!has_times || (seconds >= rule->from && seconds < rule->until)) &&
           (rule->key.bytes == 0 || oif_pattern_matches(oif_rule_text(rule, rule->key), key)) &&
           is_in_window(rule, seconds, clocks);
}

/* The next end of the window of the day, or of the day. Where the clocks change until then, the
 * hour of the clock counts, if it has this hour. */
static double end_of_window(const oif_rule *rule, double seconds)
{
    enum { DAY = 86400 };
    const int32_t end = rule->day_from == rule->day_to ? DAY : rule->day_to,
                  now = oif_zone_clock_at(&rule->zone, seconds).second,
                  left = (end - now + 2 * DAY - 1) % DAY + 1;
    const double at = (double)(int64_t)seconds + left;
    const int32_t shift =
        (end - oif_zone_clock_at(&rule->zone, at).second + 3 * DAY / 2) % DAY - DAY / 2;
    return at + shift > seconds ? at + shift : at;
}

double oif_rule_lasts_until(const oif_rule *rule, double seconds)
{
    const double end = has_window(rule) ? end_of_window(rule, seconds) : INFINITY;
    return end < rule->until ? end : rule->until;
}

/* A size says something about values, not about a value that is stuck, new or missing. */
static bool is_small(const oif_rule *rule, const oif_rule_question *q)
{
    return rule->is_percent ? q->change_share * 100 < rule->change : q->change < rule->change;
}

/* A value without a direction is missing. Other reasons may have none, too. */
static bool has_direction(const oif_rule *rule, const oif_rule_question *q)
{
    if (rule->direction == OIF_RULE_MISSING)
        return q->direction == 0 && q->reason == OIF_REASON_VALUES;
    return rule->direction == 0 || rule->direction == q->direction;
}

bool oif_rule_matches(const oif_rule *rule, const oif_rule_question *question,
                      oif_rule_clocks *clocks)
{
    return !rule->ignores && has_direction(rule, question) &&
           (rule->reasons == 0 || rule->reasons >> question->reason & 1) &&
           (rule->change == 0 || is_small(rule, question)) &&
           (rule->columns.bytes == 0 ||
            (question->column.text &&
             oif_pattern_matches(oif_rule_text(rule, rule->columns), question->column))) &&
           oif_rule_is_in_force(rule, question->key, question->seconds, clocks);
}
