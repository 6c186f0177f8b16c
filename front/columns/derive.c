#include "derive.h"

#include "front/text/cut.h"
#include "front/text/name_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLAGS = 2 };

/* A flag and the columns that it names. */
typedef struct derive_flag {
    const char *names; /* "a,b"; NULL: not given */
    oif_derive kind;
} derive_flag;

static void list_flags(const score_settings *settings, derive_flag flags[FLAGS])
{
    flags[0] = (derive_flag){settings->rate, OIF_DERIVE_RATE};
    flags[1] = (derive_flag){settings->category, OIF_DERIVE_CATEGORY};
}

bool derive_is_asked(const run_settings *settings)
{
    return settings->score.category || settings->score.rate;
}

/* ---- Every column that is asked for ---- */

/* Called for each column; returns EXIT_OK to continue. */
typedef exit_code (*derive_function)(void *context, size_t column, oif_derive kind);

/* A name of a list. Columns that it names are marked, so one that several names cover is
 * derived once. */
typedef struct asked_name {
    const char *name;
    oif_derive kind;
    bool *is_done; /* of each learned column */
} asked_name;

static bool is_meant(const input_columns *columns, const asked_name *asked, size_t column)
{
    const char *learned = columns_name(columns, column);
    return strcmp(learned, asked->name) == 0 ||
           name_covers(asked->name, learned, columns->from.format == OIF_FORMAT_NDJSON);
}

static exit_code for_name(const input_columns *columns, const asked_name *asked,
                          derive_function act, void *context)
{
    bool is_found = false;
    for (size_t i = 0; i < columns->count; i++) {
        if (!is_meant(columns, asked, i))
            continue;
        is_found = true;
        exit_code code = asked->is_done[i] ? EXIT_OK : act(context, i, asked->kind);
        if (code != EXIT_OK)
            return code;
        asked->is_done[i] = true;
    }
    const bool is_pattern = name_is_pattern(asked->name);
    if (is_found)
        return EXIT_OK;
    return complain(EXIT_USAGE,
                    "%s: --%s: %s '%s' is %slearned; add it to --columns, or do not exclude it",
                    columns->from.name, oif_derive_word(asked->kind),
                    is_pattern ? "no column like" : "the column", cut_name(asked->name).text,
                    is_pattern ? "" : "not ");
}

static exit_code for_list(const input_columns *columns, const derive_flag *flag,
                          derive_function act, void *context)
{
    const char *names = flag->names;
    if (!names)
        return EXIT_OK;
    char *name = malloc(strlen(names) + 1);
    bool *is_done = calloc(columns->count + 1, sizeof *is_done);
    exit_code code = name && is_done ? EXIT_OK : complain(EXIT_FAILED, "out of memory");
    while (names && name && is_done && code == EXIT_OK) {
        names = name_list_next(names, name);
        code = for_name(columns, &(asked_name){name, flag->kind, is_done}, act, context);
    }
    free(name);
    free(is_done);
    return code;
}

static exit_code for_each(const run_settings *settings, const input_columns *columns,
                          derive_function act, void *context)
{
    derive_flag flags[FLAGS];
    exit_code code = EXIT_OK;
    list_flags(&settings->score, flags);
    for (size_t i = 0; i < FLAGS && code == EXIT_OK; i++)
        code = for_list(columns, &flags[i], act, context);
    return code;
}

/* ---- A new pipeline ---- */

typedef struct derived_list {
    oif_derive_column *list;
    size_t count, capacity;
} derived_list;

static exit_code add_one(void *context, size_t column, oif_derive kind)
{
    derived_list *new = context;
    if (new->count == new->capacity) {
        size_t capacity = 2 * new->capacity + 8;
        oif_derive_column *list = realloc(new->list, capacity * sizeof *list);
        if (!list)
            return complain(EXIT_FAILED, "out of memory");
        new->list = list;
        new->capacity = capacity;
    }
    new->list[new->count++] = (oif_derive_column){column, kind, false};
    return EXIT_OK;
}

static exit_code complain_refused(const derived_list *new, const input_columns *columns,
                                  const oif_error *error)
{
    exit_code code = error->status == OIF_EPARAM ? EXIT_USAGE : EXIT_FAILED;
    if (error->column == 0 || error->column > new->count)
        return complain(code, "%s: %s", columns->from.name, error->message);
    const oif_derive_column *refused = &new->list[error->column - 1];
    return complain(code, "--%s %s: %s", oif_derive_word(refused->kind),
                    columns_name(columns, refused->column), error->message);
}

exit_code derive_columns(oif_pipeline *pipeline, const run_settings *settings,
                         const input_columns *columns)
{
    derived_list new = {.list = NULL};
    oif_error error;
    exit_code code = for_each(settings, columns, add_one, &new);
    if (code == EXIT_OK && new.count > 0 &&
        oif_pipeline_derive_all(pipeline, new.list, new.count, &error) != OIF_OK)
        code = complain_refused(&new, columns, &error);
    free(new.list);
    return code;
}

/* ---- One from a state ---- */

/* The ways in which a column of the rows is learned: a bit for each oif_derive. */
static unsigned ways_of(const oif_pipeline *pipeline, size_t column)
{
    unsigned ways = 0;
    for (size_t i = 0; i < oif_pipeline_learned_columns(pipeline); i++) {
        oif_derive kind;
        if (oif_pipeline_learned_from(pipeline, i, &kind) == column)
            ways |= 1u << kind;
    }
    return ways;
}

typedef struct held_pipeline {
    const oif_pipeline *pipeline;
    size_t asked;
    bool differs;
} held_pipeline;

static exit_code compare_one(void *context, size_t column, oif_derive kind)
{
    held_pipeline *held = context;
    unsigned ways = ways_of(held->pipeline, column);
    held->asked++;
    held->differs |= !(ways & 1u << kind) || (ways & 1u << OIF_DERIVE_NONE);
    return EXIT_OK;
}

static size_t count_derived(const oif_pipeline *pipeline)
{
    size_t count = 0;
    for (size_t i = 0; i < oif_pipeline_learned_columns(pipeline); i++) {
        oif_derive kind;
        oif_pipeline_learned_from(pipeline, i, &kind);
        count += kind != OIF_DERIVE_NONE;
    }
    return count;
}

exit_code derive_compare(const oif_pipeline *held, const run_settings *settings,
                         const input_columns *columns)
{
    held_pipeline compared = {held, 0, false};
    if (!derive_is_asked(settings))
        return EXIT_OK;
    exit_code code = for_each(settings, columns, compare_one, &compared);
    if (code != EXIT_OK || (!compared.differs && compared.asked == count_derived(held)))
        return code;
    return complain(EXIT_USAGE,
                    "%s: the state was learned with other derived columns; leave --rate and "
                    "--category out or name another file",
                    settings->state);
}

/* ---- Names ---- */

char *derive_name(const oif_pipeline *pipeline, const input_columns *columns, size_t learned_column)
{
    oif_derive kind;
    size_t column = oif_pipeline_learned_from(pipeline, learned_column, &kind);
    return derive_text(kind == OIF_DERIVE_CATEGORY ? OIF_DERIVE_NONE : kind,
                       columns_name(columns, column));
}

char *derive_text(oif_derive kind, const char *name)
{
    const char *word = oif_derive_word(kind);
    if (kind == OIF_DERIVE_NONE)
        return strdup(name);
    size_t bytes = strlen(word) + strlen(name) + sizeof "()";
    char *made = malloc(bytes);
    if (made)
        snprintf(made, bytes, "%s(%s)", word, name);
    return made;
}
