/* Any bytes as NDJSON. The first byte chooses the columns, the second the longest line; the rest is
 * the input. Every column is read as text, the first ones also as numbers, and some that the first
 * line may lack. */
#include "reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_SELECTED = 64 };

static void find_more_columns(oif_reader *reader)
{
    static const char *const names[] = {"a", "b.0", "b.c", "", "a\\.b", "\\0", "k.k.k"};
    size_t column;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (oif_reader_find_column(reader, names[i], &column, NULL) != OIF_OK)
            abort();
}

/* The name of a column must find that column. */
static void check_names(oif_reader *reader)
{
    size_t count = oif_reader_column_count(reader), column;
    for (size_t i = 0; i < count && i < MAX_SELECTED; i++)
        if (oif_reader_find_column(reader, oif_reader_column_name(reader, i), &column, NULL) !=
                OIF_OK ||
            column != i)
            abort();
}

static uint64_t read_rows(byte_source source, const oif_reader_options *options, uint8_t choice)
{
    oif_reader *reader = NULL;
    oif_error error = {.message = ""};
    oif_status status = oif_reader_open(options, read_source, &source, &reader, &error);
    uint64_t sum = mix_number(0xcbf29ce484222325u, (uint64_t)status);
    size_t columns[MAX_SELECTED], value_count = choice % 4;
    if (status != OIF_OK)
        return mix_error(sum, &error);
    sum = mix_columns(sum, reader);
    check_names(reader);
    if (choice & 4)
        find_more_columns(reader);
    oif_reader_collect_columns(reader, choice & 8 ? 5 : 0);
    size_t count = oif_reader_column_count(reader);
    count = count < MAX_SELECTED ? count : MAX_SELECTED;
    for (size_t i = 0; i < count; i++)
        columns[i] = count - 1 - i;
    value_count = value_count < count ? value_count : count;
    if (oif_reader_select(reader, columns, value_count, &error) != OIF_OK ||
        oif_reader_select_texts(reader, columns, count, &error) != OIF_OK)
        abort();
    sum = mix_records(sum, reader, options, value_count, count);
    oif_reader_close(reader);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const oif_reader_options options = {
        .format = OIF_FORMAT_NDJSON,
        .max_line_bytes = data[1] < 64 ? 1u + data[1] : 1u << 20,
    };
    compare_pieces(read_rows, &options, data[0], data + 2, size - 2);
    return 0;
}
