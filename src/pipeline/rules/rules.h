/* The rules of a pipeline: which alerts are held back (rule.h). They are the same for all keys.
 *
 * An alert often has several columns. It is held back if rules match columns that have at least
 * half of its shares.
 */
#ifndef OIF_PIPELINE_RULES_RULES_H
#define OIF_PIPELINE_RULES_RULES_H

#include "base/column_names.h"
#include "pipeline/rules/rule.h"
#include "snapshot/sections.h"

enum { OIF_RULES_MAX = 1000, OIF_RULES_TEXT_MAX = 1 << 20 };

typedef struct oif_rules {
    size_t count;
    size_t ignoring; /* of them begin with `ignore` */
    oif_rule list[];
} oif_rules;

/* Reads rules, one per line; `*rules` becomes NULL if there are none. Empty lines and those that
 * begin with # are skipped. A rule that `before` has too (may be NULL) keeps its counts. A name
 * in a rule that no column has is a mistake; `names` is NULL while they are not known.
 *
 * OIF_EPARAM    OIF_CAUSE_BAD_RULE, OIF_CAUSE_UNKNOWN_COLUMN; error->line is the line
 * OIF_EMEMORY */
oif_status oif_rules_new(const char *text, size_t bytes, const oif_column_names *names,
                         const oif_rules *before, oif_rules **rules, oif_error *error);

/* The rules of both, `first` (may be NULL) before `more`. OIF_EPARAM: too many, OIF_EMEMORY */
oif_status oif_rules_join(const oif_rules *first, const oif_rules *more, oif_rules **all,
                          oif_error *error);

/* A copy; NULL for NULL. OIF_EMEMORY */
oif_status oif_rules_clone(const oif_rules *rules, oif_rules **copy, oif_error *error);
void oif_rules_free(oif_rules *rules);
size_t oif_rules_bytes(const oif_rules *rules);

/* The first rule, from 1, that ignores rows of this key at this time, or that mutes an alert; 0:
 * none does. */
uint32_t oif_rules_ignore(const oif_rules *rules, oif_text key, double seconds);
uint32_t oif_rules_mute(const oif_rules *rules, const oif_rule_question *question);

/* The same for the silence of a key, by either kind of rule; and whether rules hold it back all the
 * time from `since` to before `seconds`. */
uint32_t oif_rules_mute_silence(const oif_rules *rules, oif_text key, double seconds);
bool oif_rules_hide_silence(const oif_rules *rules, oif_text key, double since, double seconds);

/* Counts a row that the rule, from 1, held back. */
void oif_rules_count(oif_rules *rules, uint32_t rule, double seconds);

/* The section RULE of a snapshot. Nothing is written without rules. Reading expects it open. */
#define OIF_SECTION_RULES "RULE"
void oif_rules_write(oif_section_writer *writer, const oif_rules *rules);
oif_rules *oif_rules_read(oif_section_reader *reader);

#endif
