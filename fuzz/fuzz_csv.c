/* Any bytes as CSV. The first two bytes choose the options and the columns; the rest is the
 * input. */
#include "reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t read_csv(byte_source source, const oif_reader_options *options, uint8_t choice)
{
    oif_reader *reader = NULL;
    oif_error error = {.message = ""};
    oif_status status = oif_reader_open(options, read_source, &source, &reader, &error);
    uint64_t sum = mix_number(0xcbf29ce484222325u, (uint64_t)status);
    if (status != OIF_OK)
        return mix_error(sum, &error);
    sum = mix_columns(sum, reader);
    size_t value_count = oif_reader_column_count(reader), last = value_count - 1, text_count = 0;
    const bool only_last_column = choice >= 128;
    if (only_last_column && oif_reader_select(reader, &last, value_count = 1, &error) != OIF_OK)
        abort();
    if (choice & 64 &&
        oif_reader_select_texts(reader, (size_t[]){0}, text_count = 1, &error) != OIF_OK)
        abort();
    sum = mix_records(sum, reader, options, value_count, text_count);
    oif_reader_close(reader);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char delimiters[] = {0, 0, 0, ',', ';', ' ', '\t', ':'};
    if (size < 2)
        return 0;
    const oif_reader_options options = {
        .header = (oif_header)(data[0] % 3),
        .delimiter = delimiters[data[0] / 4 % 8],
        .max_line_bytes = data[1] < 128 ? 1u + data[1] : 1u << 20,
        .comment = data[1] >= 192 ? "#" : NULL,
        .decimal = (oif_decimal)(data[1] / 4 % 3),
    };
    compare_pieces(read_csv, &options, data[0], data + 2, size - 2);
    return 0;
}
