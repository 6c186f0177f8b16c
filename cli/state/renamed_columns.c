#include "renamed_columns.h"

#include "front/text/cut.h"
#include "front/text/name_list.h"

#include <stdlib.h>
#include <string.h>

/* The names of the columns, then those of key and time; the latter may be NULL. */
typedef struct all_names {
    const char **names; /* of the columns */
    size_t count;
    const char *key, *time;
} all_names;

/* Where a name is; NULL: nowhere. */
static const char **find_name(all_names *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->names[i], name) == 0)
            return &all->names[i];
    return all->key && strcmp(all->key, name) == 0     ? &all->key
           : all->time && strcmp(all->time, name) == 0 ? &all->time
                                                       : NULL;
}

/* Rules find columns by the names that they have in their text. */
static void note_rules(const oif_pipeline *pipeline, const char *old)
{
    oif_rule_info rule;
    for (size_t i = 0; oif_pipeline_rule(pipeline, i, &rule); i++)
        if (strstr(rule.text, old)) {
            note("a rule of the state still names '%s': %s", cut_name(old).text, rule.text);
            return;
        }
}

/* Renames one: "OLD=NEW", which is cut in two where OLD is a column, or else at its first =. */
static exit_code rename_one(all_names *all, const oif_pipeline *pipeline, char *pair,
                            const char *state)
{
    char *cut = strchr(pair, '=');
    const char **old = NULL;
    for (char *at = cut; at && !old; at = strchr(at + 1, '=')) {
        *at = '\0';
        old = find_name(all, pair);
        if (old)
            cut = at;
        else
            *at = '=';
    }
    if (!cut || cut[1] == '\0' || cut == pair)
        return complain(EXIT_USAGE, "--rename %s: expected OLD=NEW, the names of a column", pair);
    *cut = '\0';
    const char *new = cut + 1;
    if (!old && find_name(all, new))
        return EXIT_OK;
    if (!old)
        return complain(EXIT_USAGE, "--rename: the state %s has no column '%s'", state,
                        cut_name(pair).text);
    if (find_name(all, new))
        return complain(EXIT_USAGE, "--rename: the state %s has a column '%s' already", state,
                        cut_name(new).text);
    *old = new;
    note_rules(pipeline, pair);
    return EXIT_OK;
}

/* `text` has room for the list, and then holds the new names. */
static exit_code rename_all(all_names *all, const oif_pipeline *pipeline, char *text,
                            const cli_settings *settings)
{
    const char *list = settings->score.rename;
    exit_code code = EXIT_OK;
    while (list && code == EXIT_OK) {
        const size_t bytes = strlen(list) + 1;
        list = name_list_next(list, text);
        code = rename_one(all, pipeline, text, settings->state);
        text += bytes - (list ? strlen(list) + 1 : 0);
    }
    return code;
}

static exit_code set_names(oif_pipeline *pipeline, const all_names *all, bool has_roles)
{
    oif_error error;
    if (oif_pipeline_name_columns(pipeline, all->names, &error) != OIF_OK ||
        (has_roles && oif_pipeline_name_roles(pipeline, all->key, all->time, &error) != OIF_OK))
        return complain(EXIT_FAILED, "%s", error.message);
    return EXIT_OK;
}

exit_code rename_columns(oif_pipeline *pipeline, const cli_settings *settings)
{
    all_names all = {.count = oif_pipeline_columns(pipeline)};
    if (!oif_pipeline_column_name(pipeline, 0))
        return complain(EXIT_USAGE, "--rename: the columns of the state %s have no names",
                        settings->state);
    const bool has_roles = oif_pipeline_roles(pipeline, &all.key, &all.time);
    char *text = malloc(strlen(settings->score.rename) + 1);
    all.names = calloc(all.count, sizeof *all.names);
    exit_code code = text && all.names ? EXIT_OK : complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < all.count && code == EXIT_OK; i++)
        all.names[i] = oif_pipeline_column_name(pipeline, i);
    if (code == EXIT_OK)
        code = rename_all(&all, pipeline, text, settings);
    if (code == EXIT_OK)
        code = set_names(pipeline, &all, has_roles);
    free(text);
    free(all.names);
    return code;
}
