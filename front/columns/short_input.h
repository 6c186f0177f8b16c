/* A short input is judged as a whole, by oif_pipeline_process_table: all its rows are known before
 * the first one is judged. `oif score` and `oif eval` do the same. */
#ifndef OIF_FRONT_SHORT_INPUT_H
#define OIF_FRONT_SHORT_INPUT_H

#include "columns.h"
#include "front/options/options.h"

/* Fewer say too little; later a stream is as good, and it follows changes. */
enum { SHORT_INPUT_ROWS_MIN = 40, SHORT_INPUT_ROWS_MAX = 2000 };

/* An input of at most that many rows is judged as a whole; 0: every input is a stream. */
size_t short_input_rows_max(const run_settings *settings, const input_columns *columns);

#endif
