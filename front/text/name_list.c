#include "name_list.h"

#include "quoting.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading ---- */

/* Past the quoted name that the list begins with, or NULL when it is not one: what looks like a
 * quote is then part of a name. */
static const char *read_quoted(const char *list, char *name)
{
    const char *at = list + 1;
    for (; *at; at++) {
        if (*at == '"' && at[1] != '"')
            break;
        at += *at == '"';
        *name++ = *at;
    }
    *name = '\0';
    return *at == '"' && (at[1] == ',' || at[1] == '\0') ? at + 1 : NULL;
}

const char *name_list_next(const char *list, char *name)
{
    const char *end = *list == '"' ? read_quoted(list, name) : NULL;
    if (!end) {
        end = list + strcspn(list, ",");
        memcpy(name, list, (size_t)(end - list));
        name[end - list] = '\0';
    }
    return *end ? end + 1 : NULL;
}

/* ---- Meaning ---- */

bool name_is_pattern(const char *name)
{
    return strpbrk(name, "*?[") != NULL;
}

bool name_covers(const char *name, const char *column, bool is_path)
{
    size_t bytes = strlen(name);
    if (is_path && strncmp(name, column, bytes) == 0 && column[bytes] == '.')
        return true;
    return name_is_pattern(name) && fnmatch(name, column, 0) == 0;
}

typedef bool (*name_test)(const char *name, const char *column, bool is_path);

static bool is_same(const char *name, const char *column, bool is_path)
{
    (void)is_path;
    return strcmp(name, column) == 0;
}

static bool is_same_or_covers(const char *name, const char *column, bool is_path)
{
    return is_same(name, column, is_path) || name_covers(name, column, is_path);
}

static bool has_any(const char *list, const char *column, bool is_path, name_test test)
{
    char *name = list ? malloc(strlen(list) + 1) : NULL;
    bool found = false;
    while (name && list && !found) {
        list = name_list_next(list, name);
        found = test(name, column, is_path);
    }
    free(name);
    return found;
}

bool name_list_has(const char *list, const char *name)
{
    return has_any(list, name, false, is_same);
}

bool name_list_covers(const char *list, const char *column, bool is_path)
{
    return has_any(list, column, is_path, is_same_or_covers);
}

/* ---- Writing ---- */

/* Writes a name as name_list_next reads it, in at most 2 * strlen(name) + 3 bytes. */
static void write_name(char *to, const char *name)
{
    const bool is_quoted = strpbrk(name, ",\"") != NULL;
    if (is_quoted)
        *to++ = '"';
    for (; *name; name++) {
        *to++ = *name;
        if (*name == '"')
            *to++ = '"';
    }
    if (is_quoted)
        *to++ = '"';
    *to = '\0';
}

char *name_list_append(char *list, const char *name)
{
    size_t used = list ? strlen(list) : 0;
    char *longer = realloc(list, used + 2 * strlen(name) + sizeof ",\"\"");
    if (!longer)
        free(list);
    else if (list)
        longer[used++] = ',';
    if (longer)
        write_name(longer + used, name);
    return longer;
}

/* In the list as the command line reads it. Returns false if there is no room. */
static bool add_pasted(names_text *names, const char *name)
{
    size_t used = strlen(names->paste);
    if (2 * strlen(name) + sizeof ",\"\"" > NAMES_TEXT_BYTES - used)
        return false;
    if (used > 0)
        names->paste[used++] = ',';
    write_name(names->paste + used, name);
    return true;
}

/* A name that a terminal would not show as it is cannot be pasted. */
static bool can_be_pasted(const char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < 0x20 || *name == 0x7f)
            return false;
    return true;
}

void names_text_add(names_text *names, const char *name)
{
    names_text_add_as(names, name, name, "");
}

void names_text_add_as(names_text *names, const char *name, const char *pasted, const char *value)
{
    size_t used = strlen(names->read), room = NAMES_TEXT_BYTES - used;
    names->count++;
    if (names->shown + 1 < names->count) /* no more after the first that did not fit */
        return;
    if (strlen(name) + strlen(value) + sizeof ",  ('') and 1000000 more" > room)
        return;
    names->shown++;
    names->is_not_pasted |= !can_be_pasted(pasted) || !add_pasted(names, pasted);
    snprintf(names->read + used, room, "%s%s%s%s%s", used > 0 ? ", " : "", name,
             *value ? " ('" : "", value, *value ? "')" : "");
}

const char *names_text_read(names_text *names)
{
    size_t used = strlen(names->read);
    if (names->shown < names->count && !names->is_ended)
        snprintf(names->read + used, NAMES_TEXT_BYTES - used, "%s%zu%s", used > 0 ? " and " : "",
                 names->count - names->shown, used > 0 ? " more" : "");
    names->is_ended = true;
    return names->read;
}

const char *names_text_paste(names_text *names)
{
    if (!names->is_quoted && !quoting_for_shell(names->paste, NAMES_TEXT_BYTES))
        names->is_not_pasted = true;
    names->is_quoted = true;
    return names->shown < names->count || names->is_not_pasted ? "A,B,..." : names->paste;
}
