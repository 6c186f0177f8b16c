#include "alert_options.h"

#include <string.h>

/* Options that have no effect without times. */
static bool wait_for_times(const run_settings *settings)
{
    return settings_give_option(settings, "alerts") || settings_give_option(settings, "silence");
}

bool alert_options_clash(const run_settings *settings)
{
    return settings_give_option(settings, "alerts") && settings_give_option(settings, "alert_rate");
}

exit_code alert_options_check(const run_settings *settings)
{
    if (alert_options_clash(settings))
        return complain(EXIT_USAGE,
                        "--alerts cannot be combined with --alert-rate: it adjusts the "
                        "rate to report that many episodes; leave out one or the other");
    return EXIT_OK;
}

/* ---- Options that do nothing beside others ---- */

void alert_options_note_useless(const run_settings *settings, const oif_pipeline *held)
{
    const oif_params *params = held ? oif_pipeline_detector_params(held) : &settings->params;
    const char *key = NULL, *time;
    if (held)
        oif_pipeline_roles(held, &key, &time);
    const bool has_key = settings->score.key || key;
    if (settings_give_option(settings, "max_keys") && !has_key)
        note("--max-keys has no effect without --key COL");
    if (settings_give_option(settings, "memory_limit") && !has_key)
        note("--memory-limit has no effect without --key COL");
    if ((settings_give_param(settings, "shadow_trees") ||
         settings_give_param(settings, "maturity")) &&
        strcmp(params_word(params, "forgetting"), "turnover") != 0)
        note("--shadow-trees and --maturity have no effect without --forgetting turnover");
}

void alert_options_note_idle(const run_settings *settings)
{
    if (wait_for_times(settings) && !settings->score.time)
        note("--alerts and --silence need the time of each row: name its column with --time COL");
}

/* The shortest season in seconds; 0: none. */
static double shortest_season(const run_settings *settings)
{
    static const char *const names[] = {"season_seconds", "other_season_seconds"};
    double shortest = 0, value;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (oif_params_get(&settings->options, names[i], &value, NULL) == OIF_OK && value > 0 &&
            (shortest == 0 || value < shortest))
            shortest = value;
    return shortest;
}

void alert_options_set_clock(const run_settings *settings, stream_clock *clock)
{
    clock->has_keys = settings->score.key != NULL;
    clock->has_rates = settings->score.rate != NULL;
    clock->season_seconds = shortest_season(settings);
}
