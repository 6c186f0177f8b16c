/* Raw rows: little-endian float64, the same number in each row, nothing between. Rows are copied
 * out of the buffer, because on a big-endian machine its bytes are not doubles, and rows start
 * anywhere. */
#include "base/double_bits.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number_text.h"
#include "rows/reader.h"

#include <math.h>

static size_t row_bytes(const oif_reader *reader)
{
    return reader->column_count * sizeof(double);
}

static oif_status name_columns(oif_reader *reader, size_t count, oif_error *error)
{
    char *name = oif_reader_keep(reader, oif_size_multiply(count, OIF_GENERATED_NAME_BYTES));
    if (!name)
        return oif_fail(error, OIF_EMEMORY, "no memory for the names of %zu columns", count);
    oif_status status = oif_reader_reserve_columns(reader, count, error);
    for (size_t i = 0; i < count && status == OIF_OK; i++) {
        oif_reader_generate_name(name, i);
        oif_reader_push_column(reader, name, i);
        name += OIF_GENERATED_NAME_BYTES;
    }
    return status;
}

static oif_status raw_open(oif_reader *reader, const oif_reader_options *options, oif_error *error)
{
    if (options->columns == 0)
        return oif_fail(error, OIF_EPARAM,
                        "raw rows do not say how many numbers they have; set the columns");
    if (options->columns > reader->max_line_bytes / sizeof(double))
        return oif_fail(error, OIF_EPARAM, "a row of %zu numbers is longer than %zu bytes",
                        options->columns, reader->max_line_bytes);
    oif_status status = name_columns(reader, options->columns, error);
    if (status == OIF_OK)
        status = oif_reader_fill(reader, error);
    if (status == OIF_OK && reader->end == 0)
        return oif_fail(error, OIF_END, "the input is empty");
    return status;
}

/* Copies the selected values; returns whether one of them is infinite. */
static bool take_values(oif_reader *reader, const char *row)
{
    bool infinite = false;
    for (size_t i = 0; i < reader->column_count; i++) {
        size_t slot = reader->columns[i].slot;
        if (slot == OIF_UNSELECTED)
            continue;
        double value = oif_double_from_bits(load_eight(row + i * sizeof(double)));
        reader->values[slot] = value;
        infinite |= isinf(value) != 0;
    }
    return infinite;
}

static oif_status fail_infinite(oif_reader *reader, oif_error *error)
{
    size_t column = 0;
    while (reader->columns[column].slot == OIF_UNSELECTED ||
           !isinf(reader->values[reader->columns[column].slot]))
        column++;
    reader->refused_column = column;
    return oif_fail_because_at(
        error, OIF_EINPUT, OIF_CAUSE_INFINITE_VALUE, reader->line, column + 1,
        "this number is infinite; make it finite, or NaN when it is missing");
}

static oif_status fail_torn(oif_reader *reader, oif_error *error)
{
    const size_t left = reader->end - reader->start;
    const uint64_t total = (reader->line - 1) * row_bytes(reader) + left;
    reader->start = reader->end; /* reported once; the next call finds the end */
    return oif_fail_because_at(error, OIF_EINPUT, OIF_CAUSE_TRUNCATED_ROW, reader->line,
                               left / sizeof(double) + 1,
                               "the input ends at byte %llu, %zu bytes into a row of %zu",
                               (unsigned long long)total, left, row_bytes(reader));
}

static oif_status raw_next(oif_reader *reader, oif_record *record, oif_error *error)
{
    const size_t bytes = row_bytes(reader);
    while (reader->end - reader->start < bytes) {
        oif_status status = oif_reader_fill(reader, error);
        if (status == OIF_END && reader->end > reader->start)
            return fail_torn(reader, error);
        if (status != OIF_OK)
            return status;
    }
    const char *row = reader->buffer + reader->start;
    const bool infinite = take_values(reader, row);
    oif_status status = infinite ? fail_infinite(reader, error) : OIF_OK;
    *(infinite ? &reader->refused : record) = (oif_record){
        .values = reader->values, .text = row, .text_bytes = bytes, .line = reader->line};
    reader->start += bytes;
    reader->lines_end = reader->start;
    reader->line++;
    return status;
}

const oif_row_format oif_raw_format = {.open = raw_open, .next = raw_next};
