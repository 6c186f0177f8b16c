#include "configured.h"

#include "front/options/command.h"
#include "front/text/cut.h"

#include <stdlib.h>
#include <string.h>

/* NULL or 0: not given. */
#define TAKE(member)                                                                               \
    if (!given->member)                                                                            \
    given->member = file->member

static void take_from_file(serve_settings *given, const serve_settings *file)
{
    if (!given->is_save_given) {
        given->is_save_given = file->is_save_given;
        given->save_seconds = file->save_seconds;
    }
    if (!given->is_metrics_keys_given) {
        given->is_metrics_keys_given = file->is_metrics_keys_given;
        given->metrics_keys = file->metrics_keys;
    }
    TAKE(listen);
    TAKE(data);
    TAKE(token_file);
    TAKE(read_token_file);
    TAKE(tls_cert);
    TAKE(tls_key);
    TAKE(alertmanager);
    TAKE(prometheus);
    TAKE(external_url);
    TAKE(max_streams);
    TAKE(max_columns);
    TAKE(max_connections);
    if (!(given->max_body_bytes > 0))
        given->max_body_bytes = file->max_body_bytes;
    if (!(given->history_bytes > 0))
        given->history_bytes = file->history_bytes;
    if (!(given->timeout_seconds > 0))
        given->timeout_seconds = file->timeout_seconds;
}

/* Parses the options of the file with the parser of the command line. */
static exit_code parse_options(configured *both, const char *path)
{
    static char *nothing[] = {NULL};
    char **arguments = both->config.arguments ? both->config.arguments : nothing;
    complaint about;
    help_kind help;
    messages_capture();
    exit_code code = command_parse(&serve_command, arguments, &both->from_file, &help);
    free(messages_captured(&about));
    if (code != EXIT_OK)
        return complain(code, "%s: %s", path, about.text);
    if (help != HELP_NOT_ASKED)
        return complain(EXIT_USAGE, "%s: 'help' is not a setting", path);
    return EXIT_OK;
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
    const serve_settings *asked = &both->asked;
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

exit_code configured_open(const serve_settings *given, configured *both)
{
    problem why = {0};
    memset(both, 0, sizeof *both);
    both->asked = *given;
    if (!given->config)
        config_init(&both->config);
    else if (!config_load(given->config, &both->config, &why))
        return complain(EXIT_FAILED, "%s", why.message);
    exit_code code = given->config ? parse_options(both, given->config) : EXIT_OK;
    if (code != EXIT_OK)
        return code;
    take_from_file(&both->asked, &both->from_file.serve);
    if (both->asked.alertmanager)
        both->config.alertmanager.url = both->asked.alertmanager;
    if (both->asked.prometheus)
        both->config.prometheus.url = both->asked.prometheus;
    return check(both);
}

void configured_close(configured *both)
{
    settings_close(&both->from_file);
    config_close(&both->config);
}
