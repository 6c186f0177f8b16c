/* The page of `oif eval --report`: parts that are written one after the other. */
#ifndef OIF_CLI_REPORT_H
#define OIF_CLI_REPORT_H

#include "cli/draw/svg.h"
#include "eval.h"

typedef struct eval_page {
    html_page page;
    eval_run *evaluation;
    const eval_contestant *best; /* whose pictures are shown, of its first run */
    const eval_try *shown;
    char **names; /* of the columns that are learned */
    size_t column_count;
} eval_page;

/* The question and the answer in words; and a table of the detectors if there are several. */
void report_summary(eval_page *report);
void report_detectors(eval_page *report);

/* Scores, threshold, alerts and labels over all rows. */
void report_scores(eval_page *report);

/* Columns around some episodes that were found, missed or false. Prints what is wrong unless it
 * returns EXIT_OK. */
exit_code report_episodes(eval_page *report);

/* ROC and precision-recall curves. Returns false when memory is short. */
bool report_curves(eval_page *report);

/* "2026-11-15 19:05" of a row with a time, otherwise "row 1,234". */
enum { REPORT_PLACE_BYTES = 64 };
const char *report_place(const eval_page *report, size_t row, char text[REPORT_PLACE_BYTES]);

#endif
