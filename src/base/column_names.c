#include "base/column_names.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

static size_t block_bytes(size_t count, size_t text_bytes)
{
    size_t starts_bytes = oif_size_multiply(count, sizeof(size_t));
    return oif_size_add(oif_size_add(sizeof(oif_column_names), starts_bytes), text_bytes);
}

oif_column_names *oif_column_names_room(size_t count, size_t text_bytes)
{
    oif_column_names *made = oif_memory_new(block_bytes(count, text_bytes));
    if (made)
        *made = (oif_column_names){.count = count, .text_bytes = text_bytes};
    return made;
}

bool oif_column_names_find(oif_column_names *names)
{
    const char *text = oif_column_names_text(names);
    size_t at = 0;
    for (size_t i = 0; i < names->count; i++) {
        const char *end = memchr(text + at, '\0', names->text_bytes - at);
        if (!end)
            return false;
        names->starts[i] = at;
        at = (size_t)(end - text) + 1;
    }
    return at == names->text_bytes;
}

oif_status oif_column_names_new(const char *const *texts, size_t count, oif_column_names **names,
                                oif_error *error)
{
    size_t text_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (!texts[i])
            return oif_fail_at(error, OIF_EVALUE, 0, i + 1, "the name of column %zu is NULL",
                               i + 1);
        text_bytes = oif_size_add(text_bytes, strlen(texts[i]) + 1);
    }
    if (text_bytes > OIF_COLUMN_NAMES_MAX_BYTES)
        return oif_fail(error, OIF_EVALUE,
                        "the column names have %zu bytes together; the limit is %d", text_bytes,
                        OIF_COLUMN_NAMES_MAX_BYTES);
    oif_column_names *made = oif_column_names_room(count, text_bytes);
    if (!made)
        return oif_fail(error, OIF_EMEMORY, "no memory for the names of %zu columns", count);
    char *next = oif_column_names_text(made);
    for (size_t i = 0; i < count; i++) {
        size_t bytes = strlen(texts[i]) + 1;
        memcpy(next, texts[i], bytes);
        next += bytes;
    }
    (void)oif_column_names_find(made); /* sets the starts */
    *names = made;
    return OIF_OK;
}

oif_status oif_column_names_clone(const oif_column_names *names, oif_column_names **copy,
                                  oif_error *error)
{
    oif_column_names *made = names ? oif_column_names_room(names->count, names->text_bytes) : NULL;
    if (names && !made)
        return oif_fail(error, OIF_EMEMORY, "no memory for the names of %zu columns", names->count);
    if (names)
        memcpy(made, names, oif_column_names_memory_bytes(names));
    *copy = made;
    return OIF_OK;
}

void oif_column_names_free(oif_column_names *names)
{
    oif_memory_free(names);
}

const char *oif_column_names_at(const oif_column_names *names, size_t index)
{
    return names && index < names->count ? oif_column_names_text(names) + names->starts[index]
                                         : NULL;
}

size_t oif_column_names_memory_bytes(const oif_column_names *names)
{
    return names ? block_bytes(names->count, names->text_bytes) : 0;
}
