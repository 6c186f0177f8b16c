#include "repeated_table.h"

#include "front/text/quoting.h"

static size_t join(const oif_text *words, size_t count, char text[TABLE_HEADER_BYTES])
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (words[i].bytes + 2 > TABLE_HEADER_BYTES - bytes)
            return 0;
        memcpy(text + bytes, words[i].text, words[i].bytes);
        bytes += words[i].bytes;
        text[bytes++] = ' ';
    }
    return bytes;
}

bool table_take_header(repeated_table *table, translator *by, const oif_text *words, size_t count)
{
    char header[TABLE_HEADER_BYTES];
    size_t bytes = count < TABLE_COLUMNS_MAX ? join(words, count, header) : 0;
    if (bytes == 0) {
        translator_fail(by, by->line, "a header of more than %d columns or %d bytes is not from %s",
                        TABLE_COLUMNS_MAX - 1, TABLE_HEADER_BYTES, by->format->what);
        return false;
    }
    table->is_first = table->header_bytes == 0;
    table->is_other = !table->is_first &&
                      (bytes != table->header_bytes || memcmp(header, table->header, bytes) != 0);
    if (table->is_first) {
        memcpy(table->header, header, bytes);
        table->header_bytes = bytes;
        table->columns = count;
    }
    return true;
}

bool table_has_column(const repeated_table *table, const char *name)
{
    oif_text words[TABLE_COLUMNS_MAX];
    size_t count =
        translator_words((oif_text){table->header, table->header_bytes}, words, TABLE_COLUMNS_MAX);
    for (size_t i = 0; i < count; i++)
        if (text_is(words[i], name))
            return true;
    return false;
}

/* Where the comma of 12,5 is; the bytes of the word if it is not such a number. */
static size_t decimal_comma(oif_text word)
{
    size_t comma = word.bytes;
    for (size_t i = 0; i < word.bytes; i++) {
        char byte = word.text[i];
        if (byte == ',' && comma == word.bytes && i > 0)
            comma = i;
        else if (!(byte >= '0' && byte <= '9') && !(byte == '-' && i == 0))
            return word.bytes;
    }
    return comma;
}

void table_print_cells(const oif_text *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t comma = decimal_comma(words[i]);
        if (i > 0)
            output_text(",");
        if (comma == words[i].bytes) {
            quoting_write_csv(words[i].text, words[i].bytes, ',');
            continue;
        }
        output_write(words[i].text, comma);
        output_text(".");
        output_write(words[i].text + comma + 1, words[i].bytes - comma - 1);
    }
}
