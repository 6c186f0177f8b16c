/* One run of `oif score`, from the first row to the last: what its parts share. */
#ifndef OIF_CLI_SCORING_RUN_H
#define OIF_CLI_SCORING_RUN_H

#include "cli/state/state.h"
#include "cli/watch/watch.h"
#include "front/columns/late_keys.h"
#include "front/columns/roles.h"
#include "front/options/key_room.h"
#include "front/results/metrics.h"
#include "front/results/row_writer.h"
#include "front/session/row_session.h"
#include "front/text/progress.h"
#include "on_alert.h"
#include "row_block.h"
#include "silence_monitor.h"

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
    row_session session;
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
