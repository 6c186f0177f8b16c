#include "derive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLAGS = 3 };

/* A flag and the columns that it names. */
typedef struct derive_flag {
    const char *names; /* "a,b"; NULL: not given */
    oif_derive kind;
} derive_flag;

static void list_flags(const score_settings *settings, derive_flag flags[FLAGS])
{
    flags[0] = (derive_flag){settings->diff, OIF_DERIVE_DIFF};
    flags[1] = (derive_flag){settings->rate, OIF_DERIVE_RATE};
    flags[2] = (derive_flag){settings->log, OIF_DERIVE_LOG};
}

bool derive_is_asked(const cli_settings *settings)
{
    return settings->score.diff || settings->score.rate || settings->score.log;
}

/* ---- Every column that is asked for ---- */

/* What is done with each; returns EXIT_OK to go on. */
typedef exit_code (*derive_function)(void *context, size_t column, oif_derive kind,
                                     const char *name, size_t name_bytes);

static exit_code find_learned(const cli_columns *columns, oif_derive kind, const char *name,
                              size_t name_bytes, size_t *found)
{
    for (size_t i = 0; i < columns->count; i++) {
        const char *learned = columns_name(columns, i);
        if (strlen(learned) == name_bytes && memcmp(learned, name, name_bytes) == 0) {
            *found = i;
            return EXIT_OK;
        }
    }
    return complain(EXIT_USAGE, "%s: --%s: '%.*s' is not a column that is learned from",
                    columns->from.name, oif_derive_word(kind), (int)name_bytes, name);
}

static exit_code for_each(const cli_settings *settings, const cli_columns *columns,
                          derive_function act, void *context)
{
    derive_flag flags[FLAGS];
    list_flags(&settings->score, flags);
    for (size_t i = 0; i < FLAGS; i++) {
        const char *names = flags[i].names;
        while (names) {
            size_t column = 0, bytes = strcspn(names, ",");
            exit_code code = find_learned(columns, flags[i].kind, names, bytes, &column);
            if (code == EXIT_OK)
                code = act(context, column, flags[i].kind, names, bytes);
            if (code != EXIT_OK)
                return code;
            names = names[bytes] ? names + bytes + 1 : NULL;
        }
    }
    return EXIT_OK;
}

/* ---- A new pipeline ---- */

typedef struct new_pipeline {
    oif_pipeline *pipeline;
    bool keeps;
} new_pipeline;

static exit_code derive_one(void *context, size_t column, oif_derive kind, const char *name,
                            size_t name_bytes)
{
    const new_pipeline *new = context;
    oif_error error;
    oif_status status = oif_pipeline_derive(new->pipeline, column, kind, new->keeps, &error);
    if (status == OIF_OK)
        return EXIT_OK;
    return complain(status == OIF_EPARAM ? EXIT_USAGE : EXIT_FAILED, "--%s %.*s: %s",
                    oif_derive_word(kind), (int)name_bytes, name, error.message);
}

exit_code derive_columns(oif_pipeline *pipeline, const cli_settings *settings,
                         const cli_columns *columns)
{
    new_pipeline new = {pipeline, settings->score.keep_original};
    if (new.keeps && !derive_is_asked(settings))
        return complain(EXIT_USAGE, "--keep-original goes with --diff, --rate or --log, whose "
                                    "columns it keeps");
    return for_each(settings, columns, derive_one, &new);
}

/* ---- One from a state ---- */

/* How a column of the rows is learned: a bit for each oif_derive. */
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
    unsigned itself; /* the bit that derived columns have as well */
    size_t asked;
    bool differs;
} held_pipeline;

static exit_code compare_one(void *context, size_t column, oif_derive kind, const char *name,
                             size_t name_bytes)
{
    held_pipeline *held = context;
    unsigned ways = ways_of(held->pipeline, column);
    (void)name, (void)name_bytes;
    held->asked++;
    held->differs |= !(ways & 1u << kind) || (ways & 1u << OIF_DERIVE_NONE) != held->itself;
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

exit_code derive_compare(const oif_pipeline *held, const cli_settings *settings,
                         const cli_columns *columns)
{
    held_pipeline compared = {held, settings->score.keep_original ? 1u << OIF_DERIVE_NONE : 0, 0,
                              false};
    if (!derive_is_asked(settings) && !settings->score.keep_original)
        return EXIT_OK;
    exit_code code = for_each(settings, columns, compare_one, &compared);
    if (code != EXIT_OK || (!compared.differs && compared.asked == count_derived(held)))
        return code;
    return complain(EXIT_USAGE,
                    "%s: the state was learned with other derived columns; leave --diff, --rate, "
                    "--log and --keep-original out or name another file",
                    settings->state);
}

/* ---- Names ---- */

char *derive_name(const oif_pipeline *pipeline, const cli_columns *columns, size_t learned_column)
{
    oif_derive kind;
    size_t column = oif_pipeline_learned_from(pipeline, learned_column, &kind);
    return derive_text(kind, columns_name(columns, column));
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
