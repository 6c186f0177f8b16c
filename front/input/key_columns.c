#include "key_columns.h"

#include "front/text/cut.h"
#include "front/text/name_list.h"
#include "oif.h"

#include <stdlib.h>
#include <string.h>

/* ---- Names ---- */

exit_code key_columns_split(key_columns *key, const char *list)
{
    *key = (key_columns){0};
    for (const char *rest = list; rest;) {
        if (key->count == KEY_COLUMNS_MAX)
            return complain(EXIT_USAGE, "--key: a key can have at most %d columns",
                            KEY_COLUMNS_MAX);
        char *name = malloc(strlen(list) + 1);
        if (!name)
            return complain(EXIT_FAILED, "out of memory");
        key->names[key->count++] = name;
        rest = name_list_next(rest, name);
        if (!*name)
            return complain(EXIT_USAGE,
                            "--key: '%s' contains an empty name; separate names by single commas",
                            cut_name(list).text);
    }
    if (key->count > 1 && !(key->joined = malloc(OIF_KEY_MAX_BYTES + 2)))
        return complain(EXIT_FAILED, "out of memory");
    return EXIT_OK;
}

void key_columns_close(key_columns *key)
{
    for (size_t i = 0; i < key->count; i++)
        free(key->names[i]);
    free(key->joined);
    *key = (key_columns){0};
}

/* ---- Records ---- */

/* Appends a value; returns the bytes then, at most OIF_KEY_MAX_BYTES + 2. */
static size_t append(char *joined, size_t bytes, oif_text value)
{
    for (size_t i = 0; i < value.bytes && bytes <= OIF_KEY_MAX_BYTES; i++) {
        if (value.text[i] == '/' || value.text[i] == '\\')
            joined[bytes++] = '\\';
        joined[bytes++] = value.text[i];
    }
    return bytes;
}

oif_text key_columns_text(const key_columns *key, const oif_record *record)
{
    size_t bytes = 0;
    if (key->count < 2)
        return key->count ? record->texts[key->texts[0]] : (oif_text){NULL, 0};
    for (size_t i = 0; i < key->count && bytes <= OIF_KEY_MAX_BYTES; i++) {
        if (i > 0)
            key->joined[bytes++] = '/';
        bytes = append(key->joined, bytes, record->texts[key->texts[i]]);
    }
    return (oif_text){key->joined, bytes};
}
