#include "row_source.h"

#include <stdio.h>

/* What the pipeline would refuse about a record; found first, so rows that were seen are
 * counted the same way. */
static oif_status check_key(const cli_columns *columns, const oif_record *record, oif_error *error)
{
    if (!columns->has_key)
        return OIF_OK;
    const size_t bytes = key_columns_text(&columns->key, record).bytes;
    if (bytes <= OIF_KEY_MAX_BYTES)
        return OIF_OK;
    *error = (oif_error){.status = OIF_EINPUT, .line = record->line};
    snprintf(error->message, sizeof error->message,
             "a key of %zu bytes is too long; up to %d are fine", bytes, OIF_KEY_MAX_BYTES);
    return OIF_EINPUT;
}

oif_status row_source_next(cli_input *input, on_bad_row policy, bad_rows *bad, oif_record *record,
                           oif_error *error)
{
    for (;;) {
        oif_status status = oif_reader_next(input->reader, record, error);
        bool is_mended = status == OIF_EINPUT && policy == BAD_ROW_IS_MENDED &&
                         oif_reader_refused(input->reader, record);
        if (is_mended)
            bad_rows_add(bad, &input->source, error, true);
        if (status == OIF_OK || is_mended)
            status = check_key(&input->columns, record, error);
        if (status != OIF_EINPUT || policy == BAD_ROW_FAILS)
            return status;
        bad_rows_add(bad, &input->source, error, false);
    }
}
