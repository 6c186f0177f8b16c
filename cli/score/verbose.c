#include "verbose.h"

#include "front/columns/derive.h"
#include "front/columns/short_input.h"
#include "front/text/cut.h"
#include "front/text/durations.h"
#include "front/text/name_list.h"

#include <math.h>
#include <stdlib.h>

/* ---- Columns ---- */

static void tell_learned(const input_columns *columns, const oif_pipeline *pipeline)
{
    names_text names = {.count = 0};
    for (size_t i = 0; i < oif_pipeline_learned_columns(pipeline); i++) {
        char *name = derive_name(pipeline, columns, i);
        names_text_add(&names, name ? name : "?");
        free(name);
    }
    note("%s learns from %zu column%s: %s", oif_pipeline_detector_params(pipeline)->table->name,
         names.count, names.count == 1 ? "" : "s", names_text_read(&names));
}

static void tell_use(const input_columns *columns, column_use use, const char *what)
{
    names_text names = {.count = 0};
    for (size_t i = 0; i < columns->use_count; i++)
        if (columns->uses[i] == use)
            names_text_add(&names, oif_reader_column_name(columns->from.reader, i));
    if (names.count > 0)
        note("%s: %s", what, names_text_read(&names));
}

static void tell_others(const input_columns *columns)
{
    char what[64], duration[DURATION_TEXT_BYTES];
    tell_use(columns, COLUMN_KEY, "each key has a model of its own");
    snprintf(what, sizeof what, "time%s%s", columns->row_seconds > 0 ? ", a row every " : "",
             columns->row_seconds > 0 ? duration_text(columns->row_seconds, duration) : "");
    tell_use(columns, COLUMN_TIME, what);
    tell_use(columns, COLUMN_LABEL, "left out as the label");
    tell_use(columns, COLUMN_GOES_BACK, "left out, as its times go backwards");
    tell_use(columns, COLUMN_INDEX, "left out, as it is a row number");
    tell_use(columns, COLUMN_CALENDAR, "left out, as it is a part of the date");
    tell_use(columns, COLUMN_IS_TEXT, "left out, as it is text");
    tell_use(columns, COLUMN_EXCLUDED, "left out by --exclude");
    tell_use(columns, COLUMN_NOT_CHOSEN, "left out, as --columns does not name it");
    tell_use(columns, COLUMN_NOT_IN_STATE, "left out, as the state has not learned from it");
    tell_use(columns, COLUMN_ADDED, "left out, as another oif has added it");
}

static void tell_seasons(const oif_params *options)
{
    static const char *const periods[] = {"season_rows", "season_seconds", "other_season_seconds"};
    names_text names = {.count = 0};
    for (size_t i = 0; i < 3; i++) {
        char text[64], number[GROUPED_TEXT_BYTES], duration[DURATION_TEXT_BYTES];
        double period = 0;
        if (oif_params_get(options, periods[i], &period, NULL) != OIF_OK || !(period > 0))
            continue;
        snprintf(text, sizeof text, "%s%s",
                 i == 0 ? grouped_text((uint64_t)period, number) : duration_text(period, duration),
                 i == 0 ? " rows" : "");
        names_text_add(&names, text);
    }
    if (names.count > 0)
        note("season: %s", names_text_read(&names));
}

/* ---- When ---- */

static void tell_when(const run_settings *settings, const input_columns *columns)
{
    const size_t short_rows = short_input_rows_max(settings, columns);
    char number[GROUPED_TEXT_BYTES], duration[DURATION_TEXT_BYTES], after[64] = "", whole[96] = "";
    if (columns->row_seconds > 0)
        snprintf(after, sizeof after, ", which take %s",
                 duration_text(OIF_FIRST_ROWS * columns->row_seconds, duration));
    if (short_rows > 0)
        snprintf(whole, sizeof whole, "; an input of at most %s rows is judged as a whole",
                 grouped_text(short_rows, number));
    note("the first alert may come after %d rows%s%s%s", OIF_FIRST_ROWS,
         columns->has_key ? " of a key" : "", after, whole);
}

void verbose_start(const run_settings *settings, const input_columns *columns,
                   const oif_pipeline *pipeline)
{
    char number[GROUPED_TEXT_BYTES];
    tell_learned(columns, pipeline);
    tell_others(columns);
    tell_seasons(oif_pipeline_options(pipeline));
    if (oif_pipeline_rows(pipeline) > 0)
        note("%s rows were learned before", grouped_text(oif_pipeline_rows(pipeline), number));
    else
        tell_when(settings, columns);
}

/* ---- The end ---- */

static void tell_season(const input_columns *columns, const oif_pipeline *pipeline,
                        const oif_season_info *season, const char *of_key)
{
    char *name = derive_name(pipeline, columns, season->column);
    char number[GROUPED_TEXT_BYTES], duration[DURATION_TEXT_BYTES];
    const bool in_rows = season->rows > 0;
    const char *period = in_rows ? grouped_text((uint64_t)season->rows, number)
                                 : duration_text(season->seconds, duration);
    const char *unit = in_rows ? " rows" : "", *found = season->was_found ? ", found" : "";
    if (season->strength > 0)
        note("%sseason of %s%s%s: strength %.0f%% in %s", of_key, period, unit, found,
             season->strength * 100, name ? name : "?");
    else
        note("%sseason of %s%s%s: no column follows it yet, so it does not count", of_key, period,
             unit, found);
    free(name);
}

void verbose_end(const input_columns *columns, const oif_pipeline *pipeline)
{
    oif_season_info season;
    size_t bytes = 0;
    const char *key = oif_pipeline_recent_key(pipeline, &bytes);
    char of_key[128] = "";
    if (columns->has_key && key)
        snprintf(of_key, sizeof of_key, "key \"%.*s\": ", (int)cut_bytes(key, bytes, 80), key);
    for (size_t i = 0; oif_pipeline_season(pipeline, key, bytes, i, &season); i++)
        tell_season(columns, pipeline, &season, of_key);
}
