#include "known_columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool known_columns_have_names(const struct input *input)
{
    return input_has_names(input) && input->known && oif_pipeline_column_name(input->known, 0);
}

/* ---- NDJSON ---- */

exit_code known_columns_find(const struct input *input)
{
    const size_t count = oif_pipeline_columns(input->known);
    size_t first_line_columns = oif_reader_column_count(input->reader), absent = 0,
           first_absent = 0, column;
    oif_error error;

    for (size_t i = 0; i < count; i++) {
        const char *name = oif_pipeline_column_name(input->known, i);
        if (oif_reader_find_column(input->reader, name, &column, &error) != OIF_OK)
            return complain(EXIT_FAILED, "%s: %s: %s", input->name, input->known_from,
                            error.message);
        if (column < first_line_columns)
            continue;
        first_absent = absent++ == 0 ? i : first_absent;
    }
    if (absent == 0)
        return EXIT_OK;
    const char *name = oif_pipeline_column_name(input->known, first_absent);
    if (absent == count)
        return complain(EXIT_FAILED,
                        "%s:%" PRIu64
                        ": there is no '%.60s' and nothing else that the state %s has learned from",
                        input->name, input->header_line, name, input->known_from);
    return complain(
        EXIT_OK,
        "%s: the first line has no '%.60s'%s, which the state %s has learned from; missing until "
        "a line has it",
        input->name, name, absent > 1 ? " and others" : "", input->known_from);
}

void known_columns_mark(const struct input *input, bool used[])
{
    oif_error error;
    size_t column;

    for (size_t i = 0; i < oif_pipeline_columns(input->known); i++)
        if (oif_reader_find_column(input->reader, oif_pipeline_column_name(input->known, i),
                                   &column, &error) == OIF_OK)
            used[column] = true;
}

/* ---- By name ---- */

/* A column of either side, and which one it is there. */
struct named {
    const char *name;
    size_t position;
};

static int by_name(const void *a, const void *b)
{
    const struct named *left = a, *right = b;
    int order = strcmp(left->name, right->name);

    return order != 0 ? order
                      : (left->position > right->position) - (left->position < right->position);
}

static bool are_in_order(const struct input *input)
{
    bool same = input->feature_count == oif_pipeline_columns(input->known);

    for (size_t i = 0; i < input->feature_count && same; i++)
        same = strcmp(oif_reader_column_name(input->reader, input->features[i]),
                      oif_pipeline_column_name(input->known, i)) == 0;
    return same;
}

/* What the two sides do not share: the first of each, NULL where there is none. */
struct difference {
    const struct named *here, *known;
};

static const struct named *earlier(const struct named *a, const struct named *b)
{
    return a && a->position < b->position ? a : b;
}

static struct difference compare(const struct named *here, size_t here_count,
                                 const struct named *known, size_t known_count)
{
    const struct named *here_end = here + here_count, *known_end = known + known_count;
    struct difference found = {NULL, NULL};

    while (here < here_end || known < known_end) {
        int order = here == here_end     ? 1
                    : known == known_end ? -1
                                         : strcmp(here->name, known->name);
        if (order < 0)
            found.here = earlier(found.here, here);
        if (order > 0)
            found.known = earlier(found.known, known);
        here += order <= 0;
        known += order >= 0;
    }
    return found;
}

static bool is_listed(const char *names, const char *name)
{
    for (const char *next = names; next; next = strchr(next, ',') ? strchr(next, ',') + 1 : NULL)
        if (strcspn(next, ",") == strlen(name) && strncmp(next, name, strlen(name)) == 0)
            return true;
    return false;
}

static bool is_in_input(const struct input *input, const char *name)
{
    for (size_t i = 0; i < oif_reader_column_count(input->reader); i++)
        if (strcmp(oif_reader_column_name(input->reader, i), name) == 0)
            return true;
    return false;
}

/* The option that keeps a column of the input from being learned from; NULL: none does. */
static const char *taken_away_by(const struct input *input, const struct settings *settings,
                                 const char *name)
{
    const struct {
        const char *option, *column;
    } aside[] = {{"--key", settings->score.key},
                 {"--time", settings->score.time},
                 {"--label", settings->label}};

    for (size_t i = 0; i < sizeof aside / sizeof aside[0]; i++)
        if (aside[i].column && strcmp(aside[i].column, name) == 0)
            return aside[i].option;
    if (is_listed(settings->exclude, name))
        return "--exclude";
    return settings->columns && !is_listed(settings->columns, name) && is_in_input(input, name)
               ? "--columns"
               : NULL;
}

static exit_code complain_difference(const struct input *input, const struct settings *settings,
                                     const struct difference *found)
{
    char message[OIF_ERROR_MESSAGE_BYTES];
    const char *option = found->known ? taken_away_by(input, settings, found->known->name) : NULL;

    if (option)
        return complain(
            EXIT_FAILED,
            "%s: the state %s has learned from the column '%.60s', which %s takes away; change "
            "that, or name another state",
            input->name, input->known_from, found->known->name, option);
    if (!found->here)
        return complain(EXIT_FAILED,
                        "%s:%" PRIu64
                        ": there is no column '%.60s', which the state %s has learned from",
                        input->name, input->header_line, found->known->name, input->known_from);
    snprintf(message, sizeof message, "'%.60s' is no column of the state %.60s%s%.60s%s; %s",
             found->here->name, input->known_from, found->known ? ", which has '" : "",
             found->known ? found->known->name : "", found->known ? "'" : "",
             found->known ? "choose columns with --columns, or name another state"
                          : "leave it out with --exclude");
    return input_complain_header(input, input->features[found->here->position], message);
}

static exit_code put_in_order(struct input *input, const struct named *here,
                              const struct named *known)
{
    size_t *features = calloc(input->feature_count, sizeof *features);
    oif_error error;

    if (!features)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < input->feature_count; i++) {
        if (i > 0 && strcmp(here[i].name, here[i - 1].name) == 0) {
            free(features);
            return complain(EXIT_FAILED,
                            "%s: several columns are called '%.60s', and others stand elsewhere "
                            "than in the state %s",
                            input->name, here[i].name, input->known_from);
        }
        features[known[i].position] = input->features[here[i].position];
    }
    memcpy(input->features, features, input->feature_count * sizeof *features);
    free(features);
    if (oif_reader_select(input->reader, input->features, input->feature_count, &error) != OIF_OK)
        return input_complain(input, &error);
    return EXIT_OK;
}

exit_code known_columns_sort(struct input *input, const struct settings *settings)
{
    const size_t known_count = oif_pipeline_columns(input->known), count = input->feature_count;
    struct named *here, *known;
    exit_code code;

    if (are_in_order(input))
        return EXIT_OK;
    here = calloc(count + known_count, sizeof *here);
    if (!here)
        return complain(EXIT_FAILED, "out of memory");
    known = here + count;
    for (size_t i = 0; i < count; i++)
        here[i] = (struct named){oif_reader_column_name(input->reader, input->features[i]), i};
    for (size_t i = 0; i < known_count; i++)
        known[i] = (struct named){oif_pipeline_column_name(input->known, i), i};
    qsort(here, count, sizeof *here, by_name);
    qsort(known, known_count, sizeof *known, by_name);

    struct difference found = compare(here, count, known, known_count);
    code = found.here || found.known ? complain_difference(input, settings, &found)
                                     : put_in_order(input, here, known);
    free(here);
    return code;
}
