/* The last episodes of a pipeline, over all keys. Rules are proposed from them (proposals.h).
 *
 * Each episode has the causes of its first row as rules are asked about them (rules.h), measured
 * before the row is learned. Episodes are in the order of their first rows, however many threads
 * process the rows; the oldest goes when there are too many.
 */
#ifndef OIF_PIPELINE_RULES_PAST_EPISODES_H
#define OIF_PIPELINE_RULES_PAST_EPISODES_H

#include "base/lock.h"
#include "pipeline/columns/derived_columns.h"
#include "pipeline/rules/rules.h"

enum { OIF_PAST_KEY_BYTES = 96, OIF_ALERT_CAUSES_MAX = 8 };

/* The part of a column in an alert. */
typedef struct oif_alert_cause {
    uint32_t column; /* learned */
    int32_t direction;
    double share;
    double change, change_share; /* as in oif_rule_question */
} oif_alert_cause;

/* The columns that decide whether rules hold back an alert, the highest share first. */
typedef struct oif_alert_causes {
    uint32_t reason; /* an oif_reason */
    uint32_t count;
    oif_alert_cause list[OIF_ALERT_CAUSES_MAX];
} oif_alert_causes;

typedef struct oif_past {
    uint64_t row;               /* of the pipeline, from 1: its first one */
    uint64_t number, first_row; /* as in oif_episode_info */
    double first_seconds, severity;
    uint64_t key_hash;  /* of the whole key */
    uint32_t key_bytes; /* the same; at most OIF_PAST_KEY_BYTES are kept */
    oif_alert_causes causes;
    char key[OIF_PAST_KEY_BYTES];
} oif_past;

typedef struct oif_past_episodes {
    oif_lock lock; /* of additions */
    size_t count;
    oif_past list[OIF_PAST_EPISODES_MAX];
} oif_past_episodes;

/* The names of columns, for questions. */
typedef struct oif_rule_columns {
    const oif_derived_plan *plan;
    const oif_column_names *names; /* NULL: none */
} oif_rule_columns;

/* The name of the column in the row that a learned column is made from, as rules name it; `number`
 * has room for that of a column without a name. */
enum { OIF_COLUMN_NUMBER_BYTES = 24 };
oif_text oif_rule_column_name(const oif_rule_columns *columns, size_t learned,
                              char number[OIF_COLUMN_NUMBER_BYTES]);

/* NULL if out of memory. */
oif_past_episodes *oif_past_episodes_new(void);
oif_past_episodes *oif_past_episodes_clone(const oif_past_episodes *past);
void oif_past_episodes_free(oif_past_episodes *past);

/* Adds an episode. Threads may do so at the same time. */
void oif_past_episodes_add(oif_past_episodes *past, const oif_past *episode);

/* The newest episode with this number of a key; NULL: none. */
const oif_past *oif_past_episodes_find(const oif_past_episodes *past, oif_text key,
                                       uint64_t number);

/* The key as far as it is kept. */
static inline oif_text oif_past_key(const oif_past *episode)
{
    const size_t bytes = episode->key_bytes;
    return (oif_text){episode->key, bytes < OIF_PAST_KEY_BYTES ? bytes : OIF_PAST_KEY_BYTES};
}
void oif_past_set_key(oif_past *episode, oif_text key);

/* The section PAST of a snapshot, which may be skipped. Nothing is written for NULL. Reading
 * expects it open; `rows` are those of the pipeline. */
#define OIF_SECTION_PAST "PAST"
void oif_past_episodes_write(oif_section_writer *writer, const oif_past_episodes *past);
oif_past_episodes *oif_past_episodes_read(oif_section_reader *reader, uint64_t rows,
                                          size_t learned_columns);

#endif
