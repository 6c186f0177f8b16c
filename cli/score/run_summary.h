/* The last lines of a run, for a person at a terminal: the worst episodes, what was left out, and
 * what to type next. */
#ifndef OIF_CLI_RUN_SUMMARY_H
#define OIF_CLI_RUN_SUMMARY_H

#include "front/results/result_fields.h"

enum { WORST_EPISODES = 3, WORST_KEY_BYTES = 64, WORST_WHY_BYTES = 160 };

typedef struct worst_episode {
    double severity, seconds; /* of its worst row */
    oif_grade grade;
    uint64_t line, number; /* the number of the episode of its key */
    char key[WORST_KEY_BYTES], why[WORST_WHY_BYTES];
} worst_episode;

typedef struct run_summary {
    bool is_wanted;
    size_t count;
    worst_episode worst[WORST_EPISODES]; /* the worst first */
} run_summary;

/* Wanted if a person reads stderr, and the rows go to the same terminal or to a file. */
run_summary run_summary_start(const run_settings *settings);

/* To be called with each anomaly; whether it is among the worst so far. */
bool run_summary_takes(const run_summary *summary, const oif_result *result);
void run_summary_add(run_summary *summary, const row_verdict *verdict, oif_text key, uint64_t line);

void run_summary_print(const run_summary *summary, const run_settings *settings,
                       const input_columns *columns);

#endif
