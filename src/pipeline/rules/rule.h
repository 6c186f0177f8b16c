/* One rule that holds back alerts, from a line of text:
 *
 *     mute column=latency direction=low
 *     mute column=disk_* change<20% key=db-* time=02:00-04:00 days=mon-fri zone=Europe/Berlin
 *     mute reason=stuck column="fan speed" until=2026-12-01 # is being replaced
 *     ignore from=2026-11-17T22:00:00Z until=2026-11-18T02:00:00Z # the rack moves
 *
 * `mute` holds back alerts. `ignore` also keeps the rows from being learned. All conditions of a
 * rule must hold. What has no condition matches everything.
 */
#ifndef OIF_PIPELINE_RULES_RULE_H
#define OIF_PIPELINE_RULES_RULE_H

#include "oif_rows.h"
#include "pipeline/rules/zone.h"

enum { OIF_RULE_TEXT_BYTES = 1024, OIF_RULE_MISSING = 2 };

/* A part of a rule's text; no bytes: none was given. */
typedef struct oif_rule_part {
    uint32_t at, bytes;
} oif_rule_part;

typedef struct oif_rule {
    uint32_t text_bytes;
    uint32_t ignores;         /* 1: `ignore`, 0: `mute` */
    int32_t direction;        /* 1: high, -1: low, 0: any, OIF_RULE_MISSING */
    uint32_t reasons;         /* a bit for each oif_reason; 0: any */
    double change;            /* smaller changes match; 0: any */
    uint32_t is_percent;      /* of what was expected */
    uint32_t days;            /* a bit for each day of the week, Monday first; 0: any */
    int32_t day_from, day_to; /* seconds of the day; both 0: any */
    double from, until;       /* seconds since 1970; infinite: any */
    oif_zone zone;
    uint32_t zone_number;         /* among the zones of all rules, from 0 */
    oif_rule_part columns, key;   /* patterns */
    uint64_t held;                /* rows */
    double first_held, last_held; /* their times; NaN: none, or unknown */
    char text[OIF_RULE_TEXT_BYTES];
} oif_rule;

/* What a rule is asked about: an alert in one column. */
typedef struct oif_rule_question {
    oif_text column, key;
    oif_reason reason;
    int direction;
    double change, change_share; /* beyond what was expected, and as a share of it; NaN: unknown */
    double seconds;              /* NaN: unknown */
} oif_rule_question;

/* Reads a rule from a line without its end. `line` is its number, for errors.
 *
 * OIF_EPARAM   it is not a rule: OIF_CAUSE_BAD_RULE */
oif_status oif_rule_parse(oif_rule *rule, const char *text, size_t bytes, uint64_t line,
                          oif_error *error);

/* The clocks of zones at the time of one question, each found once: rules share zones, and a clock
 * with a summer time costs as much as 50 rules. */
enum { OIF_RULE_CLOCKS = 32 };
typedef struct oif_rule_clocks {
    uint32_t known; /* a bit for each zone number; others have no place */
    oif_zone_clock clocks[OIF_RULE_CLOCKS];
} oif_rule_clocks;

/* Whether its conditions on key and time hold, and those on the alert. `clocks` may be NULL. */
bool oif_rule_is_in_force(const oif_rule *rule, oif_text key, double seconds,
                          oif_rule_clocks *clocks);
bool oif_rule_matches(const oif_rule *rule, const oif_rule_question *question,
                      oif_rule_clocks *clocks);

/* When to ask a rule that is in force again: it stays so until then, except in an hour that
 * clocks skip; infinite: no time ends it. */
double oif_rule_lasts_until(const oif_rule *rule, double seconds);

static inline oif_text oif_rule_text(const oif_rule *rule, oif_rule_part part)
{
    return (oif_text){rule->text + part.at, part.bytes};
}

/* The word for a reason. */
const char *oif_rule_reason_word(oif_reason reason);

/* Whether a text matches a pattern with * and ?, or one of several, between commas. */
bool oif_pattern_matches(oif_text pattern, oif_text text);

#endif
