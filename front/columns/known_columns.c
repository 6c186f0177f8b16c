#include "known_columns.h"

#include "front/advice/advice.h"
#include "front/input/input_error.h"
#include "front/text/cut.h"
#include "front/text/name_list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool column_source_has_names(const column_source *from)
{
    return from->format == OIF_FORMAT_NDJSON || oif_reader_has_header(from->reader);
}

bool known_columns_have_names(const column_source *from)
{
    return column_source_has_names(from) && from->known && oif_pipeline_column_name(from->known, 0);
}

static bool is_in_input(const column_source *from, const char *name)
{
    for (size_t i = 0; i < oif_reader_column_count(from->reader); i++)
        if (strcmp(oif_reader_column_name(from->reader, i), name) == 0)
            return true;
    return false;
}

/* ---- NDJSON ---- */

/* Complains where all known columns are absent from the first line; some may come later. */
static exit_code report_absent(const column_source *from, size_t absent, size_t first_absent)
{
    const char *name = oif_pipeline_column_name(from->known, first_absent);
    if (absent == oif_pipeline_columns(from->known))
        return complain(EXIT_FAILED,
                        "%s:%" PRIu64 ": there is no '%s', nor any other column that the state "
                        "%s has learned from; name the right input, or another state",
                        from->name, from->header_line, cut_name(name).text, from->known_path);
    note("%s: the first lines have no '%s'%s, which the state %s has learned from; it counts as "
         "missing until a line has it",
         from->name, cut_name(name).text, absent > 1 ? " and others" : "", from->known_path);
    return EXIT_OK;
}

exit_code known_columns_find(const column_source *from)
{
    size_t first_line_columns = oif_reader_column_count(from->reader), absent = 0, first_absent = 0;
    for (size_t i = 0; i < oif_pipeline_columns(from->known); i++) {
        size_t column;
        oif_error error;
        if (oif_reader_find_column(from->reader, oif_pipeline_column_name(from->known, i), &column,
                                   &error) != OIF_OK)
            return complain(EXIT_FAILED, "%s: %s: %s", from->name, from->known_path, error.message);
        if (column >= first_line_columns && absent++ == 0)
            first_absent = i;
    }
    return absent > 0 ? report_absent(from, absent, first_absent) : EXIT_OK;
}

/* ---- By name ---- */

void known_columns_mark(const column_source *from, column_use uses[])
{
    oif_error error;
    size_t column;
    for (size_t i = 0; i < oif_pipeline_columns(from->known); i++)
        if (oif_reader_find_column(from->reader, oif_pipeline_column_name(from->known, i), &column,
                                   &error) == OIF_OK)
            uses[column] = COLUMN_LEARNED;
}

/* A column of either side, and which one it is there. */
typedef struct named_column {
    const char *name;
    size_t position;
} named_column;

static int by_name(const void *a, const void *b)
{
    const named_column *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order
                      : (left->position > right->position) - (left->position < right->position);
}

static bool are_in_order(const column_source *from, const size_t learned[], size_t count)
{
    bool same = count == oif_pipeline_columns(from->known);
    for (size_t i = 0; i < count && same; i++)
        same = strcmp(oif_reader_column_name(from->reader, learned[i]),
                      oif_pipeline_column_name(from->known, i)) == 0;
    return same;
}

/* The first column that only one side has, for each side; NULL if there is none. */
typedef struct column_difference {
    const named_column *here, *known;
} column_difference;

static const named_column *earlier(const named_column *a, const named_column *b)
{
    return a && a->position < b->position ? a : b;
}

static column_difference compare(const named_column *here, size_t here_count,
                                 const named_column *known, size_t known_count)
{
    const named_column *here_end = here + here_count, *known_end = known + known_count;
    column_difference found = {NULL, NULL};
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

bool known_columns_have(const oif_pipeline *known, const char *name)
{
    const size_t count = known ? oif_pipeline_columns(known) : 0;
    for (size_t i = 0; i < count; i++) {
        const char *column = oif_pipeline_column_name(known, i);
        if (column && strcmp(column, name) == 0)
            return true;
    }
    return false;
}

bool known_columns_are_all_here(const column_source *from)
{
    for (size_t i = 0; i < oif_pipeline_columns(from->known); i++)
        if (!is_in_input(from, oif_pipeline_column_name(from->known, i)))
            return false;
    return true;
}

static bool is_text_now(const column_source *from, const char *name)
{
    for (size_t i = 0; from->look && i < from->look->column_count; i++)
        if (strcmp(oif_reader_column_name(from->look->reader, i), name) == 0)
            return column_look_is_text(&from->look->columns[i]);
    return false;
}

/* The option that keeps a column of the input from being learned from; NULL: none does. */
static const char *taken_away_by(const column_source *from, const run_settings *settings,
                                 const char *name)
{
    const struct {
        const char *option, *column;
    } aside[] = {
        {"key", settings->score.key}, {"time", settings->score.time}, {"label", settings->label}};
    for (size_t i = 0; i < sizeof aside / sizeof aside[0]; i++)
        if (aside[i].column && strcmp(aside[i].column, name) == 0)
            return aside[i].option;
    const bool is_path = from->format == OIF_FORMAT_NDJSON;
    if (name_list_has(settings->score.key, name))
        return "key";
    if (name_list_covers(settings->exclude, name, is_path))
        return "exclude";
    return settings->columns && !name_list_covers(settings->columns, name, is_path) &&
                   is_in_input(from, name)
               ? "columns"
               : NULL;
}

static exit_code complain_lost(const column_source *from, const char *name)
{
    const complaint_reason reason = {
        .cause = OIF_CAUSE_UNKNOWN_COLUMN,
        .shell =
            "; add it with empty values if it is gone, or name the right input or another state",
        .service = "Send it, with empty values if it is gone."};
    return complain_because(&reason, EXIT_FAILED,
                            "%s:%" PRIu64
                            ": there is no column '%s', which the state %s has learned from",
                            from->name, from->header_line, cut_name(name).text, from->known_path);
}

/* The input has a column that the state does not know; often it also lacks one. */
static exit_code complain_other_column(const column_source *from, const column_difference *found,
                                       const size_t learned[])
{
    char message[3 * CUT_NAME_BYTES + 128]; /* three names and the rest */
    snprintf(message, sizeof message, "'%s' is not a column of the state %s%s%s%s",
             cut_name(found->here->name).text, cut_name(from->known_path).text,
             found->known ? ", which has '" : "",
             found->known ? cut_name(found->known->name).text : "", found->known ? "'" : "");
    const complaint_reason reason = {
        .cause = OIF_CAUSE_UNKNOWN_COLUMN,
        .shell = found->known ? "; if it was renamed, give it that name again"
                              : "; leave it out with --exclude",
        .service = "Send the columns of the stream, or use another stream."};
    return input_error_in_header(&reason, from->name, from->reader, from->header_line,
                                 learned[found->here->position], message);
}

static exit_code complain_difference(const column_source *from, const run_settings *settings,
                                     const column_difference *found, const size_t learned[])
{
    const char *option = found->known ? taken_away_by(from, settings, found->known->name) : NULL;
    if (option)
        return complain(EXIT_FAILED,
                        "%s: the state %s has learned from the column '%s', which --%s leaves "
                        "out; change that option, or name another state",
                        from->name, from->known_path, cut_name(found->known->name).text, option);
    if (found->known && is_text_now(from, found->known->name)) {
        names_text name = {.count = 0};
        advice given;
        names_text_add(&name, found->known->name);
        return complain_because(
            advice_on(&given, ADVICE_TEXT_LEARNED, &(advice_words){.names = &name}), EXIT_FAILED,
            "%s: the column '%s', which the state %s has learned from, now contains text",
            from->name, cut_name(found->known->name).text, from->known_path);
    }
    return found->here ? complain_other_column(from, found, learned)
                       : complain_lost(from, found->known->name);
}

static exit_code put_in_order(const column_source *from, size_t learned[], size_t count,
                              const named_column *here, const named_column *known)
{
    size_t *sorted = calloc(count, sizeof *sorted);
    if (!sorted)
        return complain(EXIT_FAILED, "out of memory");
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && strcmp(here[i].name, here[i - 1].name) == 0) {
            free(sorted);
            return complain(EXIT_FAILED,
                            "%s: several columns are called '%s', and others are in a different "
                            "order than in the state %s; give each column its own name",
                            from->name, cut_name(here[i].name).text, from->known_path);
        }
        sorted[known[i].position] = learned[here[i].position];
    }
    memcpy(learned, sorted, count * sizeof *sorted);
    free(sorted);
    return EXIT_OK;
}

exit_code known_columns_sort(const column_source *from, const run_settings *settings,
                             size_t learned[], size_t count)
{
    if (are_in_order(from, learned, count))
        return EXIT_OK;
    const size_t known_count = oif_pipeline_columns(from->known);
    named_column *here = calloc(count + known_count, sizeof *here);
    if (!here)
        return complain(EXIT_FAILED, "out of memory");
    named_column *known = here + count;
    for (size_t i = 0; i < count; i++)
        here[i] = (named_column){oif_reader_column_name(from->reader, learned[i]), i};
    for (size_t i = 0; i < known_count; i++)
        known[i] = (named_column){oif_pipeline_column_name(from->known, i), i};
    qsort(here, count, sizeof *here, by_name);
    qsort(known, known_count, sizeof *known, by_name);
    column_difference found = compare(here, count, known, known_count);
    exit_code code = found.here || found.known
                         ? complain_difference(from, settings, &found, learned)
                         : put_in_order(from, learned, count, here, known);
    free(here);
    return code;
}
