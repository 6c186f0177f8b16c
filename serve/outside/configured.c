#include "configured.h"

#include "front/options/command.h"
#include "front/text/cut.h"
#include "serve/base/json_options.h"

#include <string.h>

/* Sets the options of the file, and on top of them those of the command line. */
static exit_code set_options(configured *both, const run_settings *given)
{
    run_settings *settings = &both->settings;
    option_problem about;
    problem why = {.status = 0};
    help_kind help;
    const char *name;
    json_t *value;
    bool is_set = settings_start(&serve_command, OIF_DEFAULT_DETECTOR, settings, &about);
    json_object_foreach(both->config.options, name, value)
        is_set =
            is_set && json_option_set(&serve_command, settings, name, value, both->texts, &about);
    if (is_set)
        return command_take(&serve_command, given->arguments, settings, &help);
    problem_set_option(&why, &about, "");
    return complain(why.status == 400 ? EXIT_USAGE : EXIT_FAILED, "%s: %s", given->serve.config,
                    why.message);
}

static bool check_url(const char *option, const char *url)
{
    if (!url || strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0)
        return true;
    complain(EXIT_USAGE, "--%s: '%.*s' must begin with http:// or https://", option,
             (int)cut_bytes(url, strlen(url), 200), url);
    return false;
}

static exit_code check(const configured *both)
{
    const serve_settings *asked = &both->settings.serve;
    if (!check_url("alertmanager", asked->alertmanager) ||
        !check_url("prometheus", asked->prometheus) ||
        !check_url("external-url", asked->external_url))
        return EXIT_USAGE;
    size_t queries = both->config.prometheus.stream_count;
    if (asked->prometheus && queries == 0)
        return complain(EXIT_USAGE, "--prometheus: there are no queries; --config FILE has them, "
                                    "as \"prometheus\": {\"streams\": [...]}");
    if (queries > 0 && !both->config.prometheus.url)
        return complain(EXIT_USAGE, "%s: prometheus has no 'url'; add it, or --prometheus URL",
                        asked->config);
    return EXIT_OK;
}

exit_code configured_open(const run_settings *given, configured *both)
{
    problem why = {0};
    memset(both, 0, sizeof *both);
    if (!given->serve.config)
        config_init(&both->config);
    else if (!config_load(given->serve.config, &both->config, &why))
        return complain(EXIT_FAILED, "%s", why.message);
    both->texts = json_array();
    exit_code code = set_options(both, given);
    if (code != EXIT_OK)
        return code;
    if (both->settings.serve.alertmanager)
        both->config.alertmanager.url = both->settings.serve.alertmanager;
    if (both->settings.serve.prometheus)
        both->config.prometheus.url = both->settings.serve.prometheus;
    return check(both);
}

void configured_close(configured *both)
{
    settings_close(&both->settings);
    json_decref(both->texts);
    config_close(&both->config);
}
