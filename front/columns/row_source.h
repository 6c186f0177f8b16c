/* The rows of an input one by one. Those that cannot be read end the run, are skipped, or are
 * read without their bad numbers, as the settings ask. */
#ifndef OIF_FRONT_ROW_SOURCE_H
#define OIF_FRONT_ROW_SOURCE_H

#include "input.h"

/* The next record that can be used; bad ones on the way are counted in `bad`. OIF_END after the
 * last. */
oif_status row_source_next(run_input *input, on_bad_row policy, bad_rows *bad, oif_record *record,
                           oif_error *error);

#endif
