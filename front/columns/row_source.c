#include "row_source.h"

#include "front/advice/advice.h"
#include "front/text/cut.h"

#include <inttypes.h>
#include <stdio.h>

/* Refuses what the pipeline would refuse, but earlier, so skipped rows are counted the same
 * way. */
static oif_status check_key(const input_columns *columns, const oif_record *record,
                            oif_error *error)
{
    if (!columns->has_key)
        return OIF_OK;
    const size_t bytes = key_columns_text(&columns->key, record).bytes;
    if (bytes <= OIF_KEY_MAX_BYTES)
        return OIF_OK;
    *error =
        (oif_error){.status = OIF_EINPUT, .cause = OIF_CAUSE_KEY_TOO_LONG, .line = record->line};
    snprintf(error->message, sizeof error->message,
             "a key of %zu bytes is too long; the limit is %d", bytes, OIF_KEY_MAX_BYTES);
    return OIF_EINPUT;
}

/* ---- Text in columns that had no value before ---- */

static void note_text(run_input *input, size_t column, uint64_t line)
{
    names_text names = {.count = 0};
    advice given;
    columns_list(&names, input->reader, column, "");
    const char *file = byte_source_place(&input->source, &line);
    note_because(advice_on(&given, ADVICE_TEXT_LATE, &(advice_words){.names = &names}),
                 "%s:%" PRIu64
                 ": text in '%s', which was empty in the first rows; it counts as missing",
                 file, line, cut_name(oif_reader_column_name(input->reader, column)).text);
}

/* Whether a row was refused only for text in columns that had no value before; reported once per
 * column. */
static bool has_only_late_text(run_input *input, oif_record *record, const oif_error *error)
{
    struct undecided_column *undecided = input->columns.undecided;
    if (!undecided || !oif_reader_refused(input->reader, record))
        return false;
    size_t column = input_text_column(input, error);
    if (column >= input->columns.use_count || !undecided[column].is_undecided)
        return false;
    if (!undecided[column].is_told)
        note_text(input, column, error->line);
    undecided[column].is_told = true;
    return true;
}

/* ---- Rows ---- */

/* Later the reader may be ahead of the rows that are written. */
static void note_decimal_comma(run_input *input, const oif_record *record)
{
    if (input->comma_line == 0 && oif_reader_has_decimal_commas(input->reader))
        input->comma_line = record->line;
}

oif_status row_source_next(run_input *input, on_bad_row policy, bad_rows *bad, oif_record *record,
                           oif_error *error)
{
    for (;;) {
        oif_status status = oif_reader_next(input->reader, record, error);
        if (status == OIF_EINPUT && has_only_late_text(input, record, error))
            status = OIF_OK;
        bool is_mended = status == OIF_EINPUT && policy == BAD_ROW_IS_MENDED &&
                         oif_reader_refused(input->reader, record);
        if (is_mended)
            bad_rows_add(bad, &input->source, error, true);
        if (status == OIF_OK || is_mended) {
            note_decimal_comma(input, record);
            status = check_key(&input->columns, record, error);
        }
        if (status != OIF_EINPUT || policy == BAD_ROW_FAILS)
            return status;
        translator_explain(input->translator, error);
        bad_rows_add(bad, &input->source, error, false);
    }
}
