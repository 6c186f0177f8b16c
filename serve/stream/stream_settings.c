#include "stream_settings.h"

#include "front/formats/formats.h"
#include "front/options/alert_options.h"
#include "front/text/cut.h"
#include "front/text/durations.h"
#include "serve/agents/sample_rule.h"
#include "serve/base/json_options.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Which options ---- */

enum { NAME_BYTES = 64 };

static const char end_after_name[] = "end-after";

static bool check_name(const char *name, problem *why)
{
    const option_entry *option = option_find(&score_command, name);
    if (option && option->stream == STREAM_LACKS)
        return problem_set(why, 400, option->stream_remedy, "a stream has no setting \"%s\"", name);
    if (!(*name >= 'a' && *name <= 'z') ||
        name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")] != '\0')
        return problem_set(why, 400, "the options of oif score, without their dashes, are settings",
                           "\"%s\" is not the name of a setting", cut_name(name).text);
    return true;
}

/* alert_rate -> alert-rate */
static bool take_name(const char *given, char name[NAME_BYTES], problem *why)
{
    if (strlen(given) >= NAME_BYTES)
        return problem_set(why, 400, NULL, "the name of a setting is too long: \"%s...\"",
                           cut_name(given).text);
    for (size_t i = 0; i <= strlen(given); i++)
        name[i] = given[i] == '_' ? '-' : given[i];
    return check_name(name, why);
}

/* The object with dashes in its names; NULL if it is not one, or if it has a name twice. */
static json_t *take_object(json_t *given, problem *why)
{
    json_t *object = json_object(), *value;
    const char *key;
    if (given && !json_is_object(given)) {
        problem_set(why, 400, "such as {\"key\": \"host\"}", "settings are a JSON object");
        json_decref(object);
        return NULL;
    }
    json_object_foreach(given, key, value) {
        char name[NAME_BYTES];
        bool is_taken = take_name(key, name, why);
        if (is_taken && json_object_get(object, name))
            is_taken = problem_set(why, 400, NULL, "the setting \"%s\" is given twice", name);
        if (is_taken && json_object_set(object, name, value) != 0)
            is_taken = problem_set(why, 503, NULL, "out of memory");
        if (is_taken)
            continue;
        json_decref(object);
        return NULL;
    }
    return object;
}

/* ---- Setting ---- */

static bool check_together(const run_settings *cli, bool has_folder, problem *why)
{
    if (alert_options_clash(cli))
        return problem_set(why, 400, "leave out one or the other",
                           "\"alerts\" cannot be combined with \"alert-rate\": it adjusts the rate "
                           "to report that many episodes");
    if (cli->format > 1 + OIF_FORMAT_NDJSON)
        return problem_set(why, 400, NULL, "rows are CSV or NDJSON, not %s",
                           format_words[cli->format - 1]);
    if (cli->skip_lines > 0)
        return problem_set(why, 400, "leave the lines out of the body",
                           "a stream skips no lines: \"csv\" cannot have skip=");
    if (!has_folder && params_keep_evicted(&cli->options))
        return problem_set(why, 400, "Leave the setting out, or give the server a data folder.",
                           "only a server with a data folder can keep evicted models");
    return true;
}

/* "1h", 3600 or "never". */
static bool set_end_after(stream_settings *settings, option_problem *why)
{
    const double usual_seconds = 3600;
    const json_t *value = json_object_get(settings->object, end_after_name);
    const char *text =
        value && !json_is_null(value) ? json_option_text(value, settings->texts) : "";
    settings->end_after_seconds = usual_seconds;
    if (!value || json_is_null(value))
        return true;
    if (text && strcmp(text, "never") == 0) {
        settings->end_after_seconds = INFINITY;
        return true;
    }
    return (text && duration_parse(text, &settings->end_after_seconds) &&
            settings->end_after_seconds > 0 && isfinite(settings->end_after_seconds)) ||
           option_refuse(why, OPTION_HAS_BAD_VALUE, end_after_name, text,
                         "a time such as \"1h\", or \"never\"");
}

/* The detector decides which other settings there are. */
static bool set_all(stream_settings *settings, option_problem *why)
{
    run_settings *cli = &settings->cli;
    const char *detector =
        json_option_text(json_object_get(settings->object, detector_option.name), settings->texts);
    const char *name;
    json_t *value;
    if (!settings_start(&score_command, detector ? detector : OIF_DEFAULT_DETECTOR, cli, why))
        return false;
    json_object_foreach(settings->object, name, value) {
        if (strcmp(name, end_after_name) != 0 && !sample_rule_has(name) &&
            !json_option_set(&score_command, cli, name, value, settings->texts, why))
            return false;
    }
    cli->score.is_explained = true;
    return set_end_after(settings, why);
}

/* Of the rule for samples the stream itself needs only how long rows wait, and for what. Every body
 * of samples reads the rule again. */
static bool set_waiting(stream_settings *settings, problem *why)
{
    sample_rule rule;
    bool is_good = sample_rule_open(&rule, settings->object, why);
    settings->row_wait_seconds = rule.wait_seconds;
    settings->row_span_seconds = rule.span_seconds;
    sample_rule_close(&rule);
    return is_good;
}

bool stream_settings_open(stream_settings *settings, json_t *object, bool has_folder, problem *why)
{
    option_problem about;
    *settings = (stream_settings){.object = take_object(object, why), .texts = json_array()};
    bool is_open = settings->object != NULL;
    if (is_open && !set_all(settings, &about))
        is_open = problem_set_option(why, &about, "See Settings in /api/v1/openapi.json.");
    is_open =
        is_open && check_together(&settings->cli, has_folder, why) && set_waiting(settings, why);
    if (!is_open)
        stream_settings_close(settings);
    return is_open;
}

void stream_settings_close(stream_settings *settings)
{
    settings_close(&settings->cli);
    json_decref(settings->texts);
    json_decref(settings->object);
    *settings = (stream_settings){.object = NULL};
}

/* ---- Comparing and changing ---- */

static void add_name(char names[SETTING_NAMES_BYTES], const char *name)
{
    size_t used = strlen(names);
    snprintf(names + used, SETTING_NAMES_BYTES - used, "%s%s", used > 0 ? ", " : "", name);
}

size_t stream_settings_keys_max(json_t *object)
{
    stream_settings parsed;
    double most = 0;
    problem ignored;
    if (!stream_settings_open(&parsed, object, true, &ignored))
        return 0;
    if (!parsed.cli.score.key)
        most = 1;
    else if (oif_params_get(&parsed.cli.options, "max_keys", &most, NULL) != OIF_OK)
        most = 0;
    stream_settings_close(&parsed);
    return (size_t)most;
}

static bool is_rules(const char *name)
{
    return strcmp(name, "mute") == 0;
}

/* A rule, or a list of them, in another. */
static bool has_rules(const json_t *rules, const json_t *wanted)
{
    bool is_found = json_equal(rules, wanted);
    const json_t *item;
    size_t i;
    if (json_is_array(wanted)) {
        is_found = true;
        json_array_foreach(wanted, i, item) {
            is_found = is_found && has_rules(rules, item);
        }
        return is_found;
    }
    json_array_foreach(rules, i, item) {
        is_found = is_found || json_equal(item, wanted);
    }
    return is_found;
}

bool stream_settings_fit(const json_t *asked, const json_t *settings,
                         char names[SETTING_NAMES_BYTES])
{
    const char *name;
    json_t *value;
    names[0] = '\0';
    json_object_foreach((json_t *)(uintptr_t)asked, name, value) {
        const json_t *other = json_object_get(settings, name);
        if (is_rules(name) ? !has_rules(other, value) : !other || !json_equal(value, other))
            add_name(names, name);
    }
    json_object_foreach((json_t *)(uintptr_t)settings, name, value)
        if (!is_rules(name) && !json_object_get(asked, name))
            add_name(names, name);
    return names[0] == '\0';
}

static bool is_changeable(const char *name)
{
    const option_entry *option = option_find(&score_command, name);
    char param[NAME_BYTES];
    if (strcmp(name, end_after_name) == 0 || sample_rule_has(name))
        return true;
    snprintf(param, sizeof param, "%s", name);
    for (char *c = param; *c; c++)
        if (*c == '-')
            *c = '_';
    return option ? option->stream == STREAM_CHANGES : oif_pipeline_option_is_changeable(param);
}

/* The name of a setting that the change would alter, but may not; NULL: none. */
static const char *find_fixed(const json_t *settings, json_t *change)
{
    const char *name;
    json_t *value;
    json_object_foreach(change, name, value) {
        const json_t *before = json_object_get(settings, name);
        bool is_same = before ? json_equal(before, value) : json_is_null(value);
        if (!is_same && !is_changeable(name))
            return name;
    }
    return NULL;
}

static void put_all(json_t *settings, json_t *change)
{
    const char *name;
    json_t *value;
    json_object_foreach(change, name, value) {
        if (json_is_null(value))
            json_object_del(settings, name);
        else
            json_object_set(settings, name, value);
    }
}

/* Distinguishes settings that no stream could have from those that this one cannot get. */
static bool refuse_fixed(json_t *changed, const char *name, problem *why)
{
    stream_settings possible;
    if (!stream_settings_open(&possible, changed, true, why))
        return false;
    stream_settings_close(&possible);
    return problem_set(
        why, 409, "make another stream, or remove this one first",
        "\"%s\" decides what is learned and cannot be changed while the stream exists", name);
}

json_t *stream_settings_change(const stream_settings *settings, json_t *change, problem *why)
{
    json_t *taken = take_object(change, why), *changed = taken ? json_copy(settings->object) : NULL;
    if (taken && !changed)
        problem_set(why, 503, NULL, "out of memory");
    put_all(changed, taken);
    const char *fixed = changed ? find_fixed(settings->object, taken) : NULL;
    bool is_good = changed && (!fixed || refuse_fixed(changed, fixed, why));
    json_decref(taken);
    if (is_good)
        return changed;
    json_decref(changed);
    return NULL;
}
