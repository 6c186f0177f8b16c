#include "season_option.h"

#include "front/text/durations.h"
#include "front/text/output.h"

#include <string.h>

static const char *set_rows(run_settings *settings, double rows)
{
    if (settings_give_option(settings, "season_rows"))
        return "one number of rows";
    return settings_set_option(settings, "season_rows", rows)
               ? NULL
               : "a whole number of rows from 2 to 1073741824";
}

static const char *set_seconds(run_settings *settings, double seconds)
{
    const char *name = settings_give_option(settings, "season_seconds") ? "other_season_seconds"
                                                                        : "season_seconds";
    if (settings_give_option(settings, name))
        return "at most two times";
    if (seconds < 2 || !settings_set_option(settings, name, seconds))
        return "a time from 2s to 10000000000s";
    return NULL;
}

static bool is_given(const run_settings *settings)
{
    return settings_give_option(settings, "season_rows") ||
           settings_give_option(settings, "season_seconds");
}

/* auto or off */
static const char *set_search(run_settings *settings, bool is_wanted)
{
    if (is_given(settings) || settings_give_option(settings, "find_season"))
        return "auto or off alone";
    settings_set_option(settings, "find_season", is_wanted);
    return NULL;
}

const char *season_set(run_settings *settings, const char *value)
{
    const char *end = value + strlen(value);
    double number;
    if (strcmp(value, "auto") == 0 || strcmp(value, "off") == 0)
        return set_search(settings, value[0] == 'a');
    if (settings_give_option(settings, "find_season"))
        return "auto or off alone";
    if (oif_number_parse(value, end, &number) == end)
        return number >= 2 ? set_rows(settings, number) : "2 rows or more";
    if (!duration_parse(value, &number))
        return "rows such as 96, a time such as 24h, 1d or 1w, auto or off";
    return set_seconds(settings, number);
}

exit_code season_check(const run_settings *settings)
{
    bool is_timed = settings_give_option(settings, "season_seconds") ||
                    settings_give_option(settings, "other_season_seconds");
    if (!is_timed || settings->score.time)
        return EXIT_OK;
    return complain(EXIT_USAGE,
                    "--season in seconds, hours or days needs the time of each row: name its "
                    "column with --time COL, or give the season as a number of rows");
}
