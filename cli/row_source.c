#include "row_source.h"

#include "name_list.h"

#include <inttypes.h>
#include <stdio.h>

/* Refuses what the pipeline would refuse, but earlier, so skipped rows are counted the same
 * way. */
static oif_status check_key(const cli_columns *columns, const oif_record *record, oif_error *error)
{
    if (!columns->has_key)
        return OIF_OK;
    const size_t bytes = key_columns_text(&columns->key, record).bytes;
    if (bytes <= OIF_KEY_MAX_BYTES)
        return OIF_OK;
    *error = (oif_error){.status = OIF_EINPUT, .line = record->line};
    snprintf(error->message, sizeof error->message,
             "a key of %zu bytes is too long; the limit is %d", bytes, OIF_KEY_MAX_BYTES);
    return OIF_EINPUT;
}

/* Whether the row was refused for text in a column that had no value before; reported once per
 * column. */
static bool is_text_of_undecided(cli_input *input, oif_record *record, const oif_error *error)
{
    struct undecided_column *undecided = input->columns.undecided;
    if (!undecided || !oif_reader_refused(input->reader, record))
        return false;
    size_t column = input_text_column(input, error);
    if (column >= input->columns.use_count || !undecided[column].is_undecided)
        return false;
    if (undecided[column].is_told)
        return true;
    undecided[column].is_told = true;
    const char *name = oif_reader_column_name(input->reader, column);
    names_text names = {.count = 0};
    names_text_add(&names, name);
    uint64_t line = error->line;
    const char *file = byte_source_place(&input->source, &line);
    note("%s:%" PRIu64 ": text in '%.60s', which was empty in the first rows: it is missing; "
         "--exclude %s leaves it out",
         file, line, name, names_text_paste(&names));
    return true;
}

oif_status row_source_next(cli_input *input, on_bad_row policy, bad_rows *bad, oif_record *record,
                           oif_error *error)
{
    for (;;) {
        oif_status status = oif_reader_next(input->reader, record, error);
        if (status == OIF_EINPUT && is_text_of_undecided(input, record, error))
            status = OIF_OK;
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
