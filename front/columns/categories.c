#include "categories.h"

#include "front/text/quoting.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool categories_open(category_columns *categories, size_t count, size_t row_columns, bool is_json)
{
    *categories =
        (category_columns){.count = count, .row_columns = row_columns, .is_json = is_json};
    if (count == 0)
        return true;
    categories->list = calloc(count, sizeof *categories->list);
    categories->row = calloc(row_columns, sizeof *categories->row);
    return categories->list && categories->row;
}

void categories_close(category_columns *categories)
{
    free(categories->list);
    free(categories->row);
    *categories = (category_columns){0};
}

/* The text of a string with escapes is outside the line; any other follows its quote in the
 * line. */
bool text_is_json_null(const oif_record *record, const oif_text *text)
{
    if (text->bytes != 4 || memcmp(text->text, "null", 4) != 0)
        return false;
    uintptr_t line = (uintptr_t)record->text, at = (uintptr_t)text->text;
    return at > line && at < line + record->text_bytes && text->text[-1] != '"';
}

/* An absent key of NDJSON has an empty text. */
static double category_of(const category_columns *categories, const oif_record *record,
                          const oif_text *text)
{
    bool is_null = categories->is_json && text_is_json_null(record, text);
    return oif_category(text->text, is_null ? 0 : text->bytes);
}

const double *categories_make_row(category_columns *categories, const oif_record *record)
{
    const double *next = record->values;
    size_t to = 0;
    categories->texts = record->texts;
    for (size_t i = 0; i < categories->count; i++) {
        const category_column *category = &categories->list[i];
        while (to < category->place)
            categories->row[to++] = *next++;
        categories->row[to++] = category_of(categories, record, &record->texts[category->text]);
    }
    while (to < categories->row_columns)
        categories->row[to++] = *next++;
    return categories->row;
}

static const category_column *find(const category_columns *categories, size_t place)
{
    for (size_t i = 0; i < categories->count; i++)
        if (categories->list[i].place == place)
            return &categories->list[i];
    return NULL;
}

bool categories_contain(const category_columns *categories, size_t place)
{
    return find(categories, place) != NULL;
}

const oif_text *categories_text(const category_columns *categories, size_t place)
{
    const category_column *found = find(categories, place);
    return found && categories->texts ? &categories->texts[found->text] : NULL;
}

/* What to show instead of a character: terminal controls, including those that UTF-8 encodes as
 * two bytes, are escaped, and invalid UTF-8 becomes U+FFFD. NULL: the character itself. */
static const char *instead_of(const char *at, size_t bytes, char escaped[ESCAPE_BYTES])
{
    const unsigned char *c = (const unsigned char *)at;
    if (bytes == 0)
        return "\xEF\xBF\xBD";
    if (bytes == 1 && (*c < 0x20 || *c == 0x7f))
        return escape_control(*c, escaped);
    return bytes == 2 && c[0] == 0xc2 && c[1] < 0xa0 ? escape_control(c[1], escaped) : NULL;
}

const char *category_quoted(const oif_text *text, char quoted[CATEGORY_TEXT_BYTES])
{
    static const char cut[] = "...'";
    const char *from = text->text, *end = from + text->bytes;
    size_t to = 0;
    quoted[to++] = '\'';
    while (from < end) {
        char escaped[ESCAPE_BYTES];
        size_t invalid_bytes, bytes = quoting_character_bytes(from, end, &invalid_bytes);
        const char *instead = instead_of(from, bytes, escaped);
        const size_t written_bytes = instead ? strlen(instead) : bytes;
        if (to + written_bytes + sizeof cut > CATEGORY_TEXT_BYTES) {
            memcpy(quoted + to, cut, sizeof cut);
            return quoted;
        }
        memcpy(quoted + to, instead ? instead : from, written_bytes);
        to += written_bytes;
        from += bytes > 0 ? bytes : invalid_bytes;
    }
    memcpy(quoted + to, "'", 2);
    return quoted;
}
