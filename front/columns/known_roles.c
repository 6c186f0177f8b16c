#include "known_roles.h"

#include "front/input/input_error.h"
#include "front/text/cut.h"
#include "front/text/name_list.h"

#include <string.h>

static bool has_names(const run_input *input)
{
    return input->format == OIF_FORMAT_NDJSON || oif_reader_has_header(input->reader);
}

/* A key that the first lines of NDJSON lack may come later. */
static bool has_column(const run_input *input, const char *name)
{
    size_t pair[2];
    if (columns_find_pair(input->reader, name, pair))
        return true;
    for (size_t i = 0; i < oif_reader_column_count(input->reader); i++)
        if (strcmp(oif_reader_column_name(input->reader, i), name) == 0)
            return true;
    return input->format == OIF_FORMAT_NDJSON;
}

/* ---- The key ---- */

static bool are_same(const key_columns *a, const key_columns *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; i < a->count && same; i++)
        same = strcmp(a->names[i], b->names[i]) == 0;
    return same;
}

static exit_code compare_keys(const char *asked, const char *known, const char *path)
{
    key_columns of_option, of_state = {.count = 0};
    exit_code code = key_columns_split(&of_option, asked);
    if (code == EXIT_OK)
        code = key_columns_split(&of_state, known);
    if (code == EXIT_OK && !are_same(&of_option, &of_state)) {
        if (known)
            code = complain(EXIT_FAILED,
                            "%s: the state has a model for each %s, and --key %s would start "
                            "over; leave --key out, or name another state",
                            path, cut_name(known).text, cut_name(asked).text);
        else
            code = complain(EXIT_FAILED,
                            "%s: the state has one model for all rows, and --key %s would start "
                            "over; leave --key out, or name another state",
                            path, cut_name(asked).text);
    }
    key_columns_close(&of_option);
    key_columns_close(&of_state);
    return code;
}

/* The key of the state has to be in the input. */
static exit_code find_key(const run_input *input, const char *known, const char *path)
{
    key_columns key;
    exit_code code = key_columns_split(&key, known);
    for (size_t i = 0; i < key.count && code == EXIT_OK; i++) {
        if (has_column(input, key.names[i]))
            continue;
        if (has_names(input))
            code = complain_because(
                &unknown_column, EXIT_FAILED,
                "%s: there is no column '%s', the key of the state %s; name another "
                "state",
                input->source.name, cut_name(key.names[i]).text, path);
        else
            code = complain(EXIT_FAILED,
                            "%s: the state %s has the key '%s', and these rows have no header; "
                            "name the key's column, for example --key %s",
                            input->source.name, path, cut_name(key.names[i]).text,
                            oif_reader_column_name(input->reader, 0));
    }
    key_columns_close(&key);
    return code;
}

static exit_code take_key(run_settings *settings, const oif_pipeline *pipeline,
                          const run_input *input, const char *known)
{
    const char *path = settings->state;
    if (settings->score.key && has_names(input) &&
        known_columns_have(pipeline, settings->score.key))
        return EXIT_OK; /* known_columns_sort says more */
    /* rows without names have x0 where the state has the name */
    if (settings->score.key)
        return has_names(input) || !known ? compare_keys(settings->score.key, known, path)
                                          : EXIT_OK;
    settings->score.key = known;
    return known ? find_key(input, known, path) : EXIT_OK;
}

/* ---- The time ---- */

/* Options that say what else the column is for. */
static bool is_spoken_for(const run_settings *settings, const run_input *input, const char *name)
{
    const bool is_path = input->format == OIF_FORMAT_NDJSON;
    return name_list_covers(settings->exclude, name, is_path) ||
           name_list_has(settings->columns, name) || name_list_has(settings->score.key, name) ||
           (settings->label && strcmp(settings->label, name) == 0);
}

static void take_time(run_settings *settings, const run_input *input, const char *known)
{
    if (settings->score.time) {
        if (has_names(input) && strcmp(settings->score.time, known) != 0)
            note("%s: until now the time was in '%s'; from now on it is in '%s' (--time)",
                 settings->state, cut_name(known).text, cut_name(settings->score.time).text);
        return;
    }
    if (is_spoken_for(settings, input, known))
        return;
    if (has_column(input, known))
        settings->score.time = known;
    else if (has_names(input))
        note("%s: there is no column '%s', the time of the rows in the state %s",
             input->source.name, cut_name(known).text, settings->state);
}

/* ---- Both ---- */

exit_code known_roles_take(run_settings *settings, const oif_pipeline *known,
                           const run_input *input)
{
    const char *key, *time;
    if (!known || !oif_pipeline_roles(known, &key, &time)) {
        input_take_implied(input, settings);
        return EXIT_OK;
    }
    exit_code code = take_key(settings, known, input, key);
    if (code == EXIT_OK && time)
        take_time(settings, input, time);
    return code;
}

exit_code known_roles_remember(const run_settings *settings, oif_pipeline *pipeline)
{
    oif_error error;
    if (oif_pipeline_name_roles(pipeline, settings->score.key, settings->score.time, &error) !=
        OIF_OK)
        return complain(EXIT_FAILED, "%s", error.message);
    return EXIT_OK;
}
