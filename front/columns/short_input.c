#include "short_input.h"

enum { ROWS_IN_ORDER_MAX = 500 }; /* rows with times, whose neighbours say most */

/* --state continues a stream. --freeze, on or off, says what a stream learns. Each key is a stream,
 * categories are learned in the order of the rows, and --alerts counts alerts per day. */
size_t short_input_rows_max(const run_settings *settings, const input_columns *columns)
{
    const bool is_stream = settings->state || settings->score.watch ||
                           settings_give_option(settings, "learn") ||
                           settings_give_option(settings, "alerts") || columns->has_key ||
                           columns->categories.count > 0;
    return is_stream ? 0 : columns->has_time ? ROWS_IN_ORDER_MAX : SHORT_INPUT_ROWS_MAX;
}
