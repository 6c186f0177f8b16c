#include "row_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- Text in columns that had no value before ---- */

/* A record to be read again: the header, or an object for NDJSON, and the record. */
typedef struct record_again {
    oif_text parts[3];
    size_t part;
} record_again;

static ptrdiff_t read_again(void *context, char *buffer, size_t capacity)
{
    record_again *again = context;
    while (again->part < 3 && again->parts[again->part].bytes == 0)
        again->part++;
    if (again->part == 3)
        return 0;
    oif_text *left = &again->parts[again->part];
    size_t count = left->bytes < capacity ? left->bytes : capacity;
    memcpy(buffer, left->text, count);
    *left = (oif_text){left->text + count, left->bytes - count};
    return (ptrdiff_t)count;
}

/* A text that neither part begins with, so none of them is taken for a comment. */
static const char *no_comment(const record_again *again)
{
    static const char *const unlikely[] = {"\1", "\2", "\3"};
    for (size_t i = 0; i < 2; i++) {
        const oif_text *header = &again->parts[0], *record = &again->parts[2];
        if ((header->bytes == 0 || *header->text != *unlikely[i]) &&
            (record->bytes == 0 || *record->text != *unlikely[i]))
            return unlikely[i];
    }
    return unlikely[2]; /* they begin with the other two */
}

/* Opens a reader of one record with the same columns. */
static oif_status open_again(const cli_input *input, record_again *again, oif_reader **reader,
                             oif_error *error)
{
    const oif_reader *as = input->reader;
    bool is_csv = input->format == OIF_FORMAT_CSV, has_header = oif_reader_has_header(as);
    oif_reader_options options = {.format = input->format,
                                  .header = has_header ? OIF_HEADER_YES : OIF_HEADER_NO,
                                  .delimiter = oif_reader_delimiter(as),
                                  .decimal = oif_reader_has_decimal_commas(as) ? OIF_DECIMAL_COMMA
                                                                               : OIF_DECIMAL_POINT};
    if (has_header)
        again->parts[0].text = oif_reader_header_text(as, &again->parts[0].bytes);
    if (!is_csv)
        again->parts[0] = (oif_text){"{}", 2};
    if (has_header || !is_csv)
        again->parts[1] = (oif_text){"\n", 1};
    options.comment = no_comment(again);
    options.max_line_bytes = again->parts[0].bytes + again->parts[2].bytes + 1;
    oif_status status = oif_reader_open(&options, read_again, again, reader, error);
    if (status != OIF_OK || is_csv)
        return status;
    oif_record empty;
    size_t column;
    status = oif_reader_next(*reader, &empty, error);
    for (size_t i = 0; i < oif_reader_column_count(as) && status == OIF_OK; i++)
        status = oif_reader_find_column(*reader, oif_reader_column_name(as, i), &column, error);
    return status;
}

static oif_status select_decided(const cli_columns *columns, oif_reader *reader, oif_error *error)
{
    size_t *decided = calloc(columns->count + 1, sizeof *decided), count = 0;
    if (!decided) {
        *error = (oif_error){.status = OIF_EMEMORY, .message = "out of memory"};
        return OIF_EMEMORY;
    }
    for (size_t i = 0; i < columns->count; i++) {
        size_t column = columns->learned[i];
        if (columns->uses[column] != COLUMN_CATEGORY && !columns->undecided[column].is_undecided)
            decided[count++] = column;
    }
    oif_status status = oif_reader_select(reader, decided, count, error);
    free(decided);
    return status;
}

/* Whether the other columns of a record are good: the reader reports only the first bad one. */
static oif_status check_decided(cli_input *input, const oif_record *record, oif_error *error)
{
    record_again again = {.parts = {{0}, {0}, {record->text, record->text_bytes}}};
    oif_reader *reader = NULL;
    oif_record read;
    oif_status status = open_again(input, &again, &reader, error);
    if (status == OIF_OK)
        status = select_decided(&input->columns, reader, error);
    if (status == OIF_OK)
        status = oif_reader_next(reader, &read, error);
    if (status == OIF_EINPUT && reader && oif_reader_refused(reader, &read)) {
        error->line += record->line - read.line;
        input->is_other_refused = true;
        input->other_refused = oif_reader_refused_column(reader);
    } else if (status != OIF_EMEMORY) {
        status = OIF_OK; /* no value is bad */
    }
    oif_reader_close(reader);
    return status;
}

static void note_text(cli_input *input, size_t column, uint64_t line)
{
    names_text names = {.count = 0};
    columns_list(&names, input->reader, column, "");
    const char *file = byte_source_place(&input->source, &line);
    note("%s:%" PRIu64 ": text in '%.60s', which was empty in the first rows: it is missing; "
         "--exclude %s leaves it out",
         file, line, oif_reader_column_name(input->reader, column), names_text_paste(&names));
}

/* Accepts a row that was refused for text in a column that had no value before and for nothing
 * else; reported once per column. Otherwise returns why the row is refused. */
static oif_status accept_undecided(cli_input *input, oif_record *record, oif_error *error)
{
    struct undecided_column *undecided = input->columns.undecided;
    input->is_other_refused = false;
    if (!undecided || !oif_reader_refused(input->reader, record))
        return OIF_EINPUT;
    size_t column = input_text_column(input, error);
    if (column >= input->columns.use_count || !undecided[column].is_undecided)
        return OIF_EINPUT;
    uint64_t line = error->line;
    oif_status status = check_decided(input, record, error);
    if (status == OIF_OK && !undecided[column].is_told) {
        undecided[column].is_told = true;
        note_text(input, column, line);
    }
    return status;
}

/* ---- Rows ---- */

oif_status row_source_next(cli_input *input, on_bad_row policy, bad_rows *bad, oif_record *record,
                           oif_error *error)
{
    for (;;) {
        oif_status status = oif_reader_next(input->reader, record, error);
        if (status == OIF_EINPUT)
            status = accept_undecided(input, record, error);
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
