#include "tokens.h"

#include "front/text/cut.h"
#include "front/text/name_list.h"
#include "front/text/output.h"
#include "serve/base/name_patterns.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TOKEN_BYTES_MIN = 16 };

struct token_table {
    atomic_uint references;
    token *list;
    size_t count, capacity;
};

/* ---- Roles ---- */

static const char *const level_words[] = {
    [ACCESS_NONE] = "none",
    [ACCESS_READ] = "read",
    [ACCESS_WRITE] = "write",
    [ACCESS_ADMIN] = "admin",
};

const char *access_level_word(access_level level)
{
    return level_words[level];
}

access_level access_level_of_word(const char *word)
{
    for (access_level level = ACCESS_READ; level <= ACCESS_ADMIN; level++)
        if (strcmp(level_words[level], word) == 0)
            return level;
    return ACCESS_NONE;
}

/* ---- The table ---- */

token_table *token_table_new(void)
{
    token_table *table = calloc(1, sizeof *table);
    if (table)
        atomic_init(&table->references, 1);
    return table;
}

token_table *token_table_keep(token_table *table)
{
    if (table)
        atomic_fetch_add(&table->references, 1);
    return table;
}

void token_table_release(token_table *table)
{
    if (!table || atomic_fetch_sub(&table->references, 1) > 1)
        return;
    for (size_t i = 0; i < table->count; i++)
        free(table->list[i].streams);
    free(table->list);
    free(table);
}

size_t token_table_count(const token_table *table)
{
    return table ? table->count : 0;
}

const token *token_table_at(const token_table *table, size_t index)
{
    return index < token_table_count(table) ? &table->list[index] : NULL;
}

/* Compares every hash in full, in constant time. */
const token *token_table_find(const token_table *table, const secret *hash)
{
    const token *found = NULL;
    for (size_t i = 0; i < token_table_count(table); i++)
        if (secret_equal(&table->list[i].hash, hash))
            found = &table->list[i];
    return found;
}

const token *token_table_find_text(const token_table *table, const char *text, size_t bytes)
{
    secret hash;
    return secret_hash(text, bytes, &hash) ? token_table_find(table, &hash) : NULL;
}

/* Takes over `added->streams`. */
static bool add(token_table *table, const token *added, problem *why)
{
    if (table->count == table->capacity) {
        const size_t capacity = 2 * table->capacity + 4;
        token *larger = realloc(table->list, capacity * sizeof *larger);
        if (!larger) {
            free(added->streams);
            return problem_set(why, 503, NULL, "out of memory");
        }
        table->list = larger;
        table->capacity = capacity;
    }
    table->list[table->count++] = *added;
    return table->count <= TOKENS_MAX ||
           problem_set(why, 400, NULL, "there are more than %d tokens", TOKENS_MAX);
}

/* ---- Files ---- */

static FILE *open_file(const char *file, problem *why)
{
    struct stat info;
    FILE *opened = fopen(file, "re");
    if (!opened) {
        problem_set(why, 503, NULL, "cannot read the tokens of %s: %s", file, strerror(errno));
        return NULL;
    }
    if (fstat(fileno(opened), &info) == 0 && S_ISREG(info.st_mode)) {
        if (info.st_mode & (S_IWGRP | S_IWOTH)) {
            fclose(opened);
            problem_set(why, 400, NULL, "%s: others can write it; protect it with: chmod 600 %s",
                        file, file);
            return NULL;
        }
        if (info.st_mode & (S_IRGRP | S_IROTH))
            note("%s: others can read these tokens; protect them with: chmod 600 %s", file, file);
    }
    return opened;
}

/* ---- Lines ---- */

/* Characters that are valid in a header. */
static bool is_token_character(char c)
{
    return c > ' ' && c < 0x7f && !strchr("\",;\\", c);
}

static bool add_line(token_table *table, const char *file, size_t line, const char *text,
                     access_level level, problem *why)
{
    static const char make_one[] = "make one with: openssl rand -hex 32 >";
    const size_t bytes = strlen(text);
    token added = {.level = level};
    if (bytes < TOKEN_BYTES_MIN || bytes >= TOKEN_BYTES_MAX)
        return problem_set(why, 400, NULL, "%s:%zu: a token has %d to %d characters; %s %s", file,
                           line, TOKEN_BYTES_MIN, TOKEN_BYTES_MAX - 1, make_one, file);
    for (const char *c = text; *c; c++)
        if (!is_token_character(*c))
            return problem_set(why, 400, NULL,
                               "%s:%zu: a token is made of ASCII letters, digits and signs other "
                               "than \" , ; and \\; %s %s",
                               file, line, make_one, file);
    snprintf(added.name, sizeof added.name, "%s-token-%zu", access_level_word(level), line);
    if (!secret_hash(text, bytes, &added.hash))
        return problem_set(why, 503, NULL, "GnuTLS cannot hash a token");
    return add(table, &added, why);
}

bool token_table_load_lines(token_table *table, const char *file, access_level level, problem *why)
{
    char line[2 * TOKEN_BYTES_MAX];
    size_t number = 0;
    const size_t before = table->count;
    FILE *opened = open_file(file, why);
    bool is_good = opened != NULL;
    while (is_good && fgets(line, sizeof line, opened)) {
        number++;
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0')
            is_good = add_line(table, file, number, line, level, why);
    }
    if (opened)
        fclose(opened);
    secret_forget(line, sizeof line);
    if (is_good && table->count == before)
        return problem_set(why, 400, NULL,
                           "%s: there is no token; make one with: openssl rand -hex 32 > %s", file,
                           file);
    return is_good;
}

/* ---- JSON ---- */

json_t *token_file_read(const char *file, problem *why)
{
    json_error_t error;
    struct stat info;
    if (stat(file, &info) != 0 && errno == ENOENT)
        return json_pack("{s:[]}", "tokens");
    FILE *opened = open_file(file, why);
    if (!opened)
        return NULL;
    json_t *text = json_loadf(opened, JSON_REJECT_DUPLICATES, &error);
    fclose(opened);
    if (text && json_is_array(json_object_get(text, "tokens")))
        return text;
    if (text)
        problem_set(why, 400, NULL, "%s: is not a file of tokens; oif token add makes one", file);
    else
        problem_set(why, 400, NULL, "%s: line %d, column %d: %s", file, error.line, error.column,
                    error.text);
    json_decref(text);
    return NULL;
}

/* ["web-*", "db-1"] as "web-*,db-1", for the caller to free; NULL: all, or `is_good` is false. */
static char *read_streams(const json_t *array, bool *is_good)
{
    char *list = NULL;
    size_t i;
    json_t *item;
    *is_good = !array || json_is_array(array);
    json_array_foreach(array, i, item) {
        const char *pattern = json_string_value(item);
        char *longer = name_list_append(list, pattern ? pattern : "");
        if (!longer) { /* which has freed the list */
            *is_good = false;
            return NULL;
        }
        list = longer;
    }
    *is_good = *is_good && (!list || name_patterns_are_valid(list));
    return list;
}

static bool read_count(const json_t *object, const char *name, size_t *count)
{
    const json_t *value = json_object_get(object, name);
    if (!value)
        return true;
    *count = (size_t)json_integer_value(value);
    return json_is_integer(value) && json_integer_value(value) > 0;
}

/* Returns NULL, or the member that is wrong. */
static const char *read_token(const json_t *object, token *read)
{
    const char *name = json_string_value(json_object_get(object, "name"));
    const char *role = json_string_value(json_object_get(object, "role"));
    const char *hash = json_string_value(json_object_get(object, "sha256"));
    bool is_good = false;
    *read = (token){.level = role ? access_level_of_word(role) : ACCESS_NONE};
    if (!name || !*name || strlen(name) >= sizeof read->name)
        return "name";
    snprintf(read->name, sizeof read->name, "%s", name);
    if (read->level == ACCESS_NONE)
        return "role";
    if (!hash || !secret_read(hash, &read->hash))
        return "sha256";
    if (!read_count(object, "max_streams", &read->most.streams))
        return "max_streams";
    if (!read_count(object, "max_keys", &read->most.keys))
        return "max_keys";
    if (!read_count(object, "max_columns", &read->most.columns))
        return "max_columns";
    read->streams = read_streams(json_object_get(object, "streams"), &is_good);
    return is_good ? NULL : "streams";
}

bool token_table_load(token_table *table, const char *file, problem *why)
{
    size_t i;
    json_t *object, *text = token_file_read(file, why);
    bool is_good = text != NULL;
    json_array_foreach(json_object_get(text, "tokens"), i, object) {
        token added;
        const char *wrong = read_token(object, &added);
        if (wrong)
            free(added.streams);
        is_good =
            wrong ? problem_set(why, 400, NULL, "%s: token %zu, \"%s\": \"%s\" is missing or wrong",
                                file, i + 1, cut_name(added.name).text, wrong)
                  : add(table, &added, why);
        if (!is_good)
            break;
    }
    const bool is_empty = is_good && json_array_size(json_object_get(text, "tokens")) == 0;
    json_decref(text);
    if (is_empty)
        return problem_set(why, 400, NULL,
                           "%s: there is no token; make one with: oif token add NAME --role admin "
                           "--tokens %s",
                           file, file);
    return is_good;
}
