#include "categories.h"

#include <stdlib.h>
#include <string.h>

bool categories_open(cli_categories *categories, size_t count, size_t row_columns, bool is_json)
{
    *categories = (cli_categories){.count = count, .row_columns = row_columns, .is_json = is_json};
    if (count == 0)
        return true;
    categories->list = calloc(count, sizeof *categories->list);
    categories->row = calloc(row_columns, sizeof *categories->row);
    return categories->list && categories->row;
}

void categories_close(cli_categories *categories)
{
    free(categories->list);
    free(categories->row);
    *categories = (cli_categories){0};
}

/* An absent key of NDJSON has an empty text. */
static double category_of(const cli_categories *categories, const oif_text *text)
{
    bool is_null = categories->is_json && text->bytes == 4 && memcmp(text->text, "null", 4) == 0;
    return oif_category(text->text, is_null ? 0 : text->bytes);
}

const double *categories_make_row(cli_categories *categories, const oif_record *record)
{
    const double *next = record->values;
    size_t to = 0;
    categories->texts = record->texts;
    for (size_t i = 0; i < categories->count; i++) {
        const cli_category *category = &categories->list[i];
        while (to < category->place)
            categories->row[to++] = *next++;
        categories->row[to++] = category_of(categories, &record->texts[category->text]);
    }
    while (to < categories->row_columns)
        categories->row[to++] = *next++;
    return categories->row;
}

static const cli_category *find(const cli_categories *categories, size_t place)
{
    for (size_t i = 0; i < categories->count; i++)
        if (categories->list[i].place == place)
            return &categories->list[i];
    return NULL;
}

bool categories_contain(const cli_categories *categories, size_t place)
{
    return find(categories, place) != NULL;
}

const oif_text *categories_text(const cli_categories *categories, size_t place)
{
    const cli_category *found = find(categories, place);
    return found && categories->texts ? &categories->texts[found->text] : NULL;
}

/* The bytes of a character of UTF-8 by its first one. */
static size_t character_bytes(unsigned char first)
{
    return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* Those that UTF-8 writes as two bytes too. */
static bool is_control(const unsigned char *c, size_t bytes)
{
    return *c < 0x20 || *c == 0x7f || (bytes > 1 && c[0] == 0xc2 && c[1] < 0xa0);
}

const char *category_quoted(const oif_text *text, char quoted[CATEGORY_TEXT_BYTES])
{
    static const char cut[] = "...'";
    const unsigned char *from = (const unsigned char *)text->text, *end = from + text->bytes;
    size_t to = 0;
    quoted[to++] = '\'';
    while (from < end) {
        char escaped[ESCAPE_BYTES];
        size_t left = (size_t)(end - from), bytes = character_bytes(*from);
        bytes = bytes < left ? bytes : left;
        const bool is_escaped = is_control(from, bytes);
        const char *written =
            is_escaped ? escape_control(bytes > 1 ? from[1] : *from, escaped) : (const char *)from;
        const size_t written_bytes = is_escaped ? strlen(written) : bytes;
        if (to + written_bytes + sizeof cut > CATEGORY_TEXT_BYTES) {
            memcpy(quoted + to, cut, sizeof cut);
            return quoted;
        }
        memcpy(quoted + to, written, written_bytes);
        to += written_bytes;
        from += bytes;
    }
    memcpy(quoted + to, "'", 2);
    return quoted;
}
