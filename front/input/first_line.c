#include "first_line.h"

#include "front/text/signals.h"

#include <stdio.h>

/* Whether what oif_reader_next has said may be about a row: of the columns, which are all taken
 * for numbers, some may be texts. */
static bool is_like_a_row(oif_reader *reader, oif_status status)
{
    oif_record record;
    if (status != OIF_EINPUT || !oif_reader_refused(reader, &record))
        return status == OIF_OK;
    for (size_t i = 0; i < oif_reader_column_count(reader); i++)
        if (record.values[i] == record.values[i])
            return true;
    return false;
}

static oif_status try_row(oif_reader *reader, oif_error *error)
{
    oif_record record;
    oif_status status = oif_reader_next(reader, &record, error);
    return is_like_a_row(reader, status) ? OIF_OK : status;
}

/* Two lines after the first, unless the first of them is enough. */
static oif_status try_lines_after(oif_reader *reader, uint64_t line, oif_error *error)
{
    for (int i = 0; i < 2; i++) {
        oif_status status = try_row(reader, error);
        bool nothing_follows =
            (status == OIF_END && i == 0) || (status == OIF_EREAD && signals_stop_requested());
        if (status == OIF_OK || nothing_follows)
            return OIF_OK;
        if (status != OIF_EINPUT && status != OIF_END)
            return status;
    }
    *error = (oif_error){.status = OIF_EINPUT, .line = line, .column = 1};
    snprintf(error->message, sizeof error->message,
             "this line is neither a header nor a row: the lines after it have other fields");
    return OIF_EINPUT;
}

oif_status first_line_try(byte_source *source, const oif_reader_options *options, bool any_object,
                          oif_error *error)
{
    oif_reader *reader;
    oif_status status = oif_reader_open(options, byte_source_read, source, &reader, error);
    if (status != OIF_OK)
        return status;
    if (options->format == OIF_FORMAT_NDJSON ? !any_object : !oif_reader_has_header(reader))
        status = try_row(reader, error);
    if (status == OIF_OK && options->format == OIF_FORMAT_CSV)
        status = try_lines_after(reader, byte_source_line(source), error);
    oif_reader_close(reader);
    return status;
}
