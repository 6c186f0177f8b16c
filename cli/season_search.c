#include "season_search.h"

#include "durations.h"
#include "season_period.h"

#include <stdlib.h>
#include <string.h>

/* ---- The command line ---- */

static const char *set_rows(cli_settings *settings, double rows)
{
    if (settings->score.is_season_searched || settings_give_option(settings, "season_rows"))
        return "one number of rows, or auto";
    return settings_set_option(settings, "season_rows", rows)
               ? NULL
               : "a whole number of rows from 2 to 1073741824";
}

static const char *set_seconds(cli_settings *settings, double seconds)
{
    const char *name = settings_give_option(settings, "season_seconds") ? "other_season_seconds"
                                                                        : "season_seconds";
    if (settings_give_option(settings, name))
        return "at most two times";
    if (seconds < 2 || !settings_set_option(settings, name, seconds))
        return "a time from 2s to 10000000000s";
    return NULL;
}

const char *season_set(cli_settings *settings, const char *value)
{
    const char *end = value + strlen(value);
    double number;
    if (strcmp(value, "auto") == 0) {
        if (settings_give_option(settings, "season_rows"))
            return "one number of rows, or auto";
        settings->score.is_season_searched = true;
        return NULL;
    }
    if (oif_number_parse(value, end, &number) == end)
        return number >= 2 ? set_rows(settings, number) : "2 rows or more";
    if (!duration_parse(value, &number))
        return "rows such as 96, a time such as 24h, 1d or 1w, or auto";
    return set_seconds(settings, number);
}

exit_code season_check(const cli_settings *settings)
{
    bool is_timed = settings_give_option(settings, "season_seconds") ||
                    settings_give_option(settings, "other_season_seconds");
    if (!is_timed || settings->score.time)
        return EXIT_OK;
    return complain(EXIT_USAGE,
                    "--season in seconds, hours or days needs the time of each row: name its "
                    "column with --time COL, or give the season as a number of rows");
}

/* ---- Rows ---- */

static bool is_full(const season_search *search)
{
    return search->count == SEASON_SEARCH_ROWS;
}

/* Rows of other keys are left out: each has a season of its own, in its own rows. */
static bool is_of_key(season_search *search, const cli_columns *columns, const oif_record *record)
{
    if (!columns->has_key)
        return true;
    oif_text key = key_columns_text(&columns->key, record);
    if (!search->key) {
        search->key = malloc(key.bytes + 1);
        search->key_bytes = key.bytes;
        if (search->key)
            memcpy(search->key, key.text, key.bytes);
    }
    return search->key && search->key_bytes == key.bytes &&
           memcmp(search->key, key.text, key.bytes) == 0;
}

static void add_row(season_search *search, const cli_columns *columns, const oif_record *record)
{
    if (is_full(search) || !is_of_key(search, columns, record))
        return;
    for (size_t i = 0; i < search->columns; i++)
        search->values[i * SEASON_SEARCH_ROWS + search->count] = record->values[i];
    search->count++;
}

static void free_search(season_search *search)
{
    free(search->values);
    free(search->key);
    search->values = NULL;
    search->key = NULL;
}

/* The one of the column whose period is most certain. */
static season_period find_best(const season_search *search)
{
    season_period best = {0, 0, 0};
    for (size_t i = 0; i < search->columns; i++) {
        season_period found =
            season_period_find(search->values + i * SEASON_SEARCH_ROWS, search->count);
        if (found.certainty > best.certainty)
            best = found;
    }
    return best;
}

static void report(const season_search *search, const season_period *found, const char *advice)
{
    char rows[GROUPED_TEXT_BYTES];
    if (found->rows == 0)
        note("%s: no season found in the first %s rows", search->name,
             grouped_text(search->count, rows));
    else
        note("%s: season of %zu rows found (autocorrelation %.2f)%s%zu", search->name, found->rows,
             found->correlation, advice, found->rows);
}

/* ---- A file ---- */

/* Reads the first rows through a reader of its own. What is wrong with them is said when they are
 * scored. */
static void read_rows(season_search *search, const cli_settings *settings)
{
    bad_rows bad = {0};
    cli_input input;
    oif_record record;
    oif_error error;
    oif_status status = OIF_OK;
    cli_settings quiet = *settings;
    quiet.is_quiet = true;
    if (input_open(&input, &quiet, LABEL_IGNORED, NULL, &bad) != EXIT_OK)
        return;
    while (!is_full(search) && (status == OIF_OK || status == OIF_EINPUT)) {
        status = oif_reader_next(input.reader, &record, &error);
        if (status == OIF_OK)
            add_row(search, &input.columns, &record);
    }
    input_close(&input);
}

void season_search_start(season_search *search, cli_settings *settings, const cli_input *input)
{
    size_t columns = input->columns.count - input->columns.categories.count;
    *search = (season_search){.columns =
                                  columns < SEASON_SEARCH_COLUMNS ? columns : SEASON_SEARCH_COLUMNS,
                              .name = input->source.name};
    if (!settings->score.is_season_searched)
        return;
    search->values = malloc(search->columns * SEASON_SEARCH_ROWS * sizeof *search->values);
    if (!search->values || !input->source.files.can_be_reopened)
        return;
    read_rows(search, settings);
    season_period found = find_best(search);
    report(search, &found, "; the same as --season ");
    if (found.rows > 0)
        settings_set_option(settings, "season_rows", (double)found.rows);
    free_search(search);
}

/* ---- Rows that arrive ---- */

void season_search_row(season_search *search, const cli_columns *columns, const oif_record *record)
{
    if (!search->values)
        return;
    add_row(search, columns, record);
    if (is_full(search))
        season_search_end(search);
}

void season_search_end(season_search *search)
{
    if (!search->values)
        return;
    season_period found = find_best(search);
    if (search->count > 0)
        report(search, &found, "; use --season ");
    free_search(search);
}
