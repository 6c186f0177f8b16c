/* The page of `oif eval --report`: members of the JSON object that it draws, written one after the
 * other to the output. */
#ifndef OIF_CLI_REPORT_H
#define OIF_CLI_REPORT_H

#include "eval.h"

typedef enum episode_kind {
    EPISODE_FOUND,
    EPISODE_MISSED,
    EPISODE_FALSE,
    EPISODE_KINDS
} episode_kind;

typedef struct eval_page {
    eval_run *evaluation;
    const eval_contestant *best; /* whose pictures are shown, of its first run */
    const eval_try *shown;
    char **names; /* of the columns that are learned */
    size_t column_count;
    size_t episodes[EPISODE_KINDS]; /* known after report_episodes */
} eval_page;

/* The detectors, the best first: measures and what their curves are drawn from. Returns false when
 * memory is short. */
bool report_detectors(const eval_page *report);

/* Severities, threshold, alerts and labels over all rows. */
void report_severities(const eval_page *report);

/* Columns around some episodes that were found, missed or false. Prints what is wrong unless it
 * returns EXIT_OK. */
exit_code report_episodes(eval_page *report);

/* "name":"text"; and "name":[1,2,null]: every `step`th value. */
void report_text(const char *name, const char *text);
enum { REPORT_DIGITS = 9, REPORT_TIME_DIGITS = 13 };
void report_list(const char *name, const double values[], size_t count, size_t step, int digits);
void report_numbers(const double values[], size_t count, size_t step, int digits); /* [1,2,null] */

#endif
