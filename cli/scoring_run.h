/* One run of `oif score`, from the first row to the last: what its parts share. */
#ifndef OIF_CLI_SCORING_RUN_H
#define OIF_CLI_SCORING_RUN_H

#include "key_room.h"
#include "late_keys.h"
#include "metrics.h"
#include "on_alert.h"
#include "progress.h"
#include "roles.h"
#include "row_block.h"
#include "row_writer.h"
#include "silence_monitor.h"
#include "state.h"
#include "stream_clock.h"
#include "watch.h"

#include <stdatomic.h>

typedef struct scoring_run {
    const score_settings *settings;
    const cli_settings *all_settings;
    cli_input *input;
    cli_state *state;
    result_fields fields;
    row_writer writer;
    watch_view watch;
    bool is_watched;
    bad_rows bad;
    stream_clock times;
    silence_monitor silence;
    key_room room;
    progress_line progress;
    cli_metrics metrics;
    on_alert *actions;
    uint64_t rows_until_attention; /* to commands that run */
    rising_watch rising;
    late_keys late;
    row_block *block; /* NULL: rows are processed one by one */
    oif_status block_status;
    oif_error block_error; /* of that status */
    bool is_over;          /* nothing is to be read any more */
    atomic_bool is_memory_short;
    bool is_header_written;
    uint64_t keyless; /* rows whose key is empty */
    uint64_t anomalies, episodes;
    uint64_t graded[OIF_GRADE_CRITICAL + 1]; /* rows of each grade */
} scoring_run;

#endif
