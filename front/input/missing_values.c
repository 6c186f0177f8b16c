#include "missing_values.h"

#include "front/text/name_list.h"

#include <stdlib.h>
#include <string.h>

/* The columns that "NAME=" at the start of an item covers get its value. Returns how many did. */
static oif_status set_for_columns(oif_reader *reader, char *item, bool has_paths, size_t *count,
                                  oif_error *error)
{
    char *equals = strchr(item, '=');
    oif_status status = OIF_OK;
    *count = 0;
    if (!equals)
        return OIF_OK;
    *equals = '\0';
    for (size_t i = 0; i < oif_reader_column_count(reader) && status == OIF_OK; i++) {
        const char *name = oif_reader_column_name(reader, i);
        if (strcmp(item, name) != 0 && !name_covers(item, name, has_paths))
            continue;
        status = oif_reader_add_missing(reader, i, equals + 1, error);
        (*count)++;
    }
    *equals = '=';
    return status;
}

static bool is_text(const char *word, oif_text text)
{
    return strlen(word) == text.bytes && memcmp(word, text.text, text.bytes) == 0;
}

bool missing_values_have(const char *list, const char *column, oif_text text, bool has_paths)
{
    char *item = list ? malloc(strlen(list) + 1) : NULL;
    bool is_there = false;
    while (item && list && !is_there) {
        list = name_list_next(list, item);
        is_there = is_text(item, text);
        char *equals = strchr(item, '=');
        if (!equals)
            continue;
        *equals = '\0';
        is_there |= is_text(equals + 1, text) &&
                    (strcmp(item, column) == 0 || name_covers(item, column, has_paths));
    }
    free(item);
    return is_there;
}

oif_status missing_values_set(oif_reader *reader, const char *list, bool has_paths,
                              oif_error *error)
{
    char *item = list ? malloc(strlen(list) + 1) : NULL;
    oif_status status = list && !item ? OIF_EMEMORY : OIF_OK;
    while (item && list && status == OIF_OK) {
        size_t count;
        list = name_list_next(list, item);
        status = set_for_columns(reader, item, has_paths, &count, error);
        if (status == OIF_OK && count == 0)
            status = oif_reader_add_missing(reader, OIF_ALL_COLUMNS, item, error);
    }
    free(item);
    return status;
}
