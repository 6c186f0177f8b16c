#include "alert_options.h"

/* Options that do nothing without times. */
static bool wait_for_times(const cli_settings *settings)
{
    return settings_give_option(settings, "alerts") || settings_give_option(settings, "cooldown") ||
           settings_give_option(settings, "silence");
}

exit_code alert_options_check(const cli_settings *settings)
{
    if (settings_give_option(settings, "alerts") && (settings_give_option(settings, "alert_rate") ||
                                                     settings_give_option(settings, "threshold")))
        return complain(EXIT_USAGE, "--alerts says how many episodes there are to be: leave out "
                                    "--alert-rate and --threshold, or --alerts");
    return EXIT_OK;
}

void alert_options_note_idle(const cli_settings *settings)
{
    if (wait_for_times(settings) && !settings->score.time)
        note("--alerts, --cooldown and --silence do nothing without the times of rows: name their "
             "column with --time");
}

bool alert_options_need_times(const cli_settings *settings)
{
    return wait_for_times(settings) || settings->score.rate ||
           settings_give_option(settings, "season_seconds");
}
