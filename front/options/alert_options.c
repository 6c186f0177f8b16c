#include "alert_options.h"

#include <string.h>

/* Options that have no effect without times. */
static bool wait_for_times(const cli_settings *settings)
{
    return settings_give_option(settings, "alerts") || settings_give_option(settings, "cooldown") ||
           settings_give_option(settings, "silence");
}

const char *alert_options_clash(const cli_settings *settings)
{
    const bool has_rate = settings_give_option(settings, "alert_rate"),
               has_threshold = settings_give_option(settings, "threshold");
    if (settings_give_option(settings, "alerts") && (has_rate || has_threshold))
        return "alerts";
    return has_rate && has_threshold ? "threshold" : NULL;
}

exit_code alert_options_check(const cli_settings *settings)
{
    const char *clash = alert_options_clash(settings);
    if (clash && strcmp(clash, "alerts") == 0)
        return complain(EXIT_USAGE,
                        "--alerts cannot be combined with --alert-rate or --threshold: it adjusts "
                        "both to report that many episodes; leave out one or the other");
    if (clash)
        return complain(EXIT_USAGE, "--threshold and --alert-rate contradict each other: a fixed "
                                    "score, or a fixed rate of episodes; leave one of them out");
    return EXIT_OK;
}

/* ---- Options that do nothing beside others ---- */

/* Metrics have no rows, so options about printed rows have no effect. With times, alerts
 * include silence, which is always reported. */
static void note_useless_of_rows(const score_settings *score)
{
    const struct {
        const char *name;
        bool is_given;
    } options[] = {{"--digits", score->digits > 0},
                   {"--explain", score->explain_top > 0},
                   {"--fields", score->fields != NULL},
                   {"--only-alerts", score->only_alerts && !score->time},
                   {"--alert-once", score->alert_once && !score->time},
                   {"--no-output-header", score->no_output_header}};
    if (output_format_facts(score->output)->has_rows)
        return;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].is_given)
            note("%s has no effect with --output %s, which prints no rows", options[i].name,
                 output_format_words[score->output - OUTPUT_CSV]);
}

void alert_options_note_useless(const cli_settings *settings, const oif_pipeline *held)
{
    const oif_params *options = held ? oif_pipeline_options(held) : &settings->options,
                     *params = held ? oif_pipeline_detector_params(held) : &settings->params;
    if (settings_give_option(settings, "patience") &&
        strcmp(params_word(options, "learn"), "decay") != 0)
        note("--patience has no effect without --learn decay");
    const char *key = NULL, *time;
    if (held)
        oif_pipeline_roles(held, &key, &time);
    const bool has_key = settings->score.key || key;
    if (settings_give_option(settings, "max_keys") && !has_key)
        note("--max-keys has no effect without --key COL");
    if (settings_give_option(settings, "memory_limit") && !has_key)
        note("--memory-limit has no effect without --key COL");
    if (settings->score.is_on_alert_wait_given && !settings->score.on_alert)
        note("--on-alert-wait has no effect without --on-alert COMMAND");
    note_useless_of_rows(&settings->score);
    if ((settings_give_param(settings, "shadow_trees") ||
         settings_give_param(settings, "maturity")) &&
        strcmp(params_word(params, "forgetting"), "turnover") != 0)
        note("--shadow-trees and --maturity have no effect without --forgetting turnover");
}

void alert_options_note_idle(const cli_settings *settings)
{
    if (wait_for_times(settings) && !settings->score.time)
        note("--alerts, --cooldown and --silence need the time of each row: name its column with "
             "--time COL");
}

/* The shortest season in seconds; 0: none. */
static double shortest_season(const cli_settings *settings)
{
    static const char *const names[] = {"season_seconds", "other_season_seconds"};
    double shortest = 0, value;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (oif_params_get(&settings->options, names[i], &value, NULL) == OIF_OK && value > 0 &&
            (shortest == 0 || value < shortest))
            shortest = value;
    return shortest;
}

void alert_options_set_clock(const cli_settings *settings, stream_clock *clock)
{
    clock->has_keys = settings->score.key != NULL;
    clock->has_rates = settings->score.rate != NULL;
    clock->season_seconds = shortest_season(settings);
}
