#include "stream_settings.h"

#include "front/options/alert_options.h"
#include "front/options/command.h"
#include "front/text/cut.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Which options ---- */

enum { NAME_BYTES = 64 };

/* Options of the tool that a stream has, besides detector parameters and pipeline options; and
 * whether they can change later. */
static const struct stream_option {
    const char *name;
    bool is_changeable;
} stream_options[] = {
    {"detector", false},      {"key", false},     {"time", false},      {"time-year", false},
    {"diff", false},          {"rate", false},    {"log", false},       {"category", false},
    {"keep-original", false}, {"season", false},  {"label", false},     {"columns", false},
    {"exclude", false},       {"strict", false},  {"format", false},    {"header", false},
    {"no-header", false},     {"comment", false}, {"delimiter", false}, {"decimal-comma", false},
    {"fields", true},         {"prefix", true},   {"explain", true},    {"digits", true},
    {"on-bad-row", true},
};

/* Options of `oif score` that a stream does not have, and why. */
static const struct refused_option {
    const char *name, *why;
} refused_options[] = {
    {"state", "the server keeps the state itself"},
    {"save-every", "the server saves by itself: oif serve --save-every"},
    {"skip-seen", "send first_row=N with the rows instead"},
    {"on-alert", "a stream runs no commands: use Alertmanager or /api/v1/events"},
    {"on-alert-wait", "a stream runs no commands"},
    {"fail-on-alert", "a stream has no exit code: ask /api/v1/now"},
    {"watch", "the page shows it"},
    {"verbose", "GET the stream: it says what is learned"},
    {"only-alerts", "send rows with answer=alerts instead"},
    {"alert-once", "ask for episodes instead"},
    {"min-grade", "send rows with answer=alerts instead, and look at their grade"},
    {"output", "answers have the format of the rows"},
    {"output-file", "a stream writes no files: /metrics has its figures"},
    {"output-every", "a stream writes no files: /metrics has its figures"},
    {"output-keys", "a stream writes no files: /metrics has its figures"},
    {"measurement", "answers have the format of the rows"},
    {"no-output-header", "answers have the header of the rows"},
    {"raw-columns", "rows are CSV or NDJSON"},
    {"skip-lines", "leave the lines out of the body"},
    {"help", "GET /api/v1/openapi.json"},
    {"help-all", "GET /api/v1/openapi.json"},
};

static const struct stream_option *find_option(const char *name)
{
    for (size_t i = 0; i < sizeof stream_options / sizeof *stream_options; i++)
        if (strcmp(stream_options[i].name, name) == 0)
            return &stream_options[i];
    return NULL;
}

/* Whether `oif score` has it in its own tables. */
static bool is_of_the_tool(const char *name)
{
    const cli_option *option;
    for (size_t i = 0; (option = command_option(&score_command, i)) != NULL; i++)
        if (strcmp(option->name, name) == 0)
            return true;
    return false;
}

static bool check_name(const char *name, problem *why)
{
    for (size_t i = 0; i < sizeof refused_options / sizeof *refused_options; i++)
        if (strcmp(refused_options[i].name, name) == 0)
            return problem_set(why, 400, refused_options[i].why, "a stream has no setting \"%s\"",
                               name);
    if (is_of_the_tool(name) && !find_option(name))
        return problem_set(why, 400, NULL, "a stream has no setting \"%s\"", name);
    /* The parser would skip leading dashes, and take --state for state. */
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
            is_taken = problem_set(why, 400, NULL, "the setting \"%s\" is there twice", name);
        if (is_taken && json_object_set(object, name, value) != 0)
            is_taken = problem_set(why, 503, NULL, "out of memory");
        if (is_taken)
            continue;
        json_decref(object);
        return NULL;
    }
    return object;
}

/* ---- From JSON to arguments ---- */

typedef struct argument_list {
    char **texts;
    size_t count, capacity;
} argument_list;

/* Takes ownership of `text`, which is NULL if out of memory. */
static bool add_argument(argument_list *list, char *text, problem *why)
{
    if (list->count + 2 > list->capacity) {
        size_t capacity = 2 * list->capacity + 16;
        char **larger = realloc(list->texts, capacity * sizeof *larger);
        if (larger) {
            list->texts = larger;
            list->capacity = capacity;
        }
    }
    if (!text || list->count + 2 > list->capacity) {
        free(text);
        return problem_set(why, 503, NULL, "out of memory");
    }
    list->texts[list->count++] = text;
    list->texts[list->count] = NULL;
    return true;
}

static void free_arguments(char **arguments)
{
    for (size_t i = 0; arguments && arguments[i]; i++)
        free(arguments[i]);
    free(arguments);
}

/* "--name=value", or "--name" if the value is NULL. */
static char *flag_text(const char *name, const char *value)
{
    size_t bytes = strlen(name) + (value ? strlen(value) : 0) + sizeof "--=";
    char *text = malloc(bytes);
    if (text)
        snprintf(text, bytes, value ? "--%s=%s" : "--%s", name, value);
    return text;
}

enum { SCALAR_BYTES = OIF_NUMBER_TEXT_BYTES + 1 };

/* A string or a number as text; NULL for others. */
static const char *scalar_text(const json_t *value, char number[SCALAR_BYTES])
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_integer(value))
        snprintf(number, SCALAR_BYTES, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        number[oif_number_format(json_real_value(value), number)] = '\0';
    else
        return NULL;
    return number;
}

/* Appends a name in list form: quoted if needed. Returns the end. */
static char *append_name(char *to, const char *name)
{
    bool is_quoted = strpbrk(name, ",\"") != NULL;
    if (is_quoted)
        *to++ = '"';
    for (; *name; name++) {
        if (*name == '"')
            *to++ = '"';
        *to++ = *name;
    }
    if (is_quoted)
        *to++ = '"';
    return to;
}

/* ["a", "b,c"] in the form of the tool: a,"b,c". The caller frees it. */
static char *join(const json_t *list)
{
    size_t bytes = 1, i;
    const json_t *item;
    char number[SCALAR_BYTES];
    json_array_foreach(list, i, item) {
        const char *text = scalar_text(item, number);
        if (!text)
            return NULL;
        bytes += 2 * strlen(text) + 3;
    }
    char *joined = malloc(bytes), *at = joined;
    if (!joined)
        return NULL;
    json_array_foreach(list, i, item) {
        if (i > 0)
            *at++ = ',';
        at = append_name(at, scalar_text(item, number));
    }
    *at = '\0';
    return joined;
}

static bool add_scalar(argument_list *list, const char *name, const json_t *value, problem *why)
{
    char number[SCALAR_BYTES];
    const char *text = scalar_text(value, number);
    if (!text)
        return problem_set(
            why, 400, NULL,
            "the setting \"%s\" must be a string, a number, true or a list of strings", name);
    return add_argument(list, flag_text(name, text), why);
}

/* Seasons are separate arguments, other lists are one. */
static bool add_list(argument_list *list, const char *name, const json_t *value, problem *why)
{
    size_t i;
    const json_t *item;
    if (strcmp(name, "season") != 0) {
        char *joined = join(value);
        bool is_added = joined ? add_argument(list, flag_text(name, joined), why)
                               : problem_set(why, 400, NULL,
                                             "the setting \"%s\" must be a list of strings", name);
        free(joined);
        return is_added;
    }
    json_array_foreach(value, i, item)
        if (!add_scalar(list, name, item, why))
            return false;
    return true;
}

/* The word for true or false of an option that is on by default; NULL: it is not one. */
static const char *switch_word(const char *name, bool is_on)
{
    static const char *const names[] = {"find-season", "stuck", "partner", "motion"};
    if (strcmp(name, "season") == 0)
        return is_on ? "auto" : "off";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return is_on ? "on" : "off";
    return NULL;
}

static bool add_setting(argument_list *list, const char *name, const json_t *value, problem *why)
{
    if (json_is_false(value) && strcmp(name, "header") == 0)
        return add_argument(list, flag_text("no-header", NULL), why);
    const char *word = switch_word(name, json_is_true(value));
    if (json_is_boolean(value) && word)
        return add_argument(list, flag_text(name, word), why);
    if (json_is_false(value) || json_is_null(value))
        return true;
    if (json_is_true(value))
        return add_argument(list, flag_text(name, NULL), why);
    return json_is_array(value) ? add_list(list, name, value, why)
                                : add_scalar(list, name, value, why);
}

/* ---- Parsing ---- */

static bool check_more(const cli_settings *cli, bool has_folder, problem *why)
{
    if (cli->format == 1 + OIF_FORMAT_RAW)
        return problem_set(why, 400, NULL, "rows are CSV or NDJSON, not raw");
    if (!has_folder && params_keep_evicted(&cli->options))
        return problem_set(why, 400, "oif serve --data DIR",
                           "evicted models can be kept only if there is a folder for it");
    return true;
}

/* The parser's messages name options with dashes; settings have none, but the names are clear. */
static bool parse(stream_settings *settings, problem *why)
{
    complaint about;
    help_kind help;
    messages_capture();
    exit_code code = command_parse(&score_command, settings->arguments, &settings->cli, &help);
    if (code == EXIT_OK)
        code = alert_options_check(&settings->cli);
    free(messages_captured(&about));
    if (code == EXIT_OK)
        return true;
    problem_set(why, code == EXIT_USAGE ? 400 : 503,
                "settings are the options of oif score: see oif score --help-all", "%s",
                about.text);
    why->cause = about.cause;
    return false;
}

static bool make_arguments(const json_t *object, argument_list *list, problem *why)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
        if (!add_setting(list, name, value, why))
            return false;
    if (json_object_get(object, "explain")) {
        if (!list->texts) /* false, and nothing else */
            list->texts = calloc(1, sizeof *list->texts);
        return list->texts || problem_set(why, 503, NULL, "out of memory");
    }
    char number[16];
    snprintf(number, sizeof number, "%d", DEFAULT_EXPLAIN_TOP);
    return add_argument(list, flag_text("explain", number), why);
}

bool stream_settings_open(stream_settings *settings, json_t *object, bool has_folder, problem *why)
{
    argument_list list = {.texts = NULL};
    *settings = (stream_settings){.object = take_object(object, why)};
    bool is_open = settings->object && make_arguments(settings->object, &list, why);
    settings->arguments = list.texts;
    is_open = is_open && parse(settings, why) && check_more(&settings->cli, has_folder, why);
    if (!is_open)
        stream_settings_close(settings);
    return is_open;
}

void stream_settings_close(stream_settings *settings)
{
    settings_close(&settings->cli);
    free_arguments(settings->arguments);
    json_decref(settings->object);
    *settings = (stream_settings){.object = NULL};
}

/* ---- Comparing and changing ---- */

static void add_name(char names[SETTING_NAMES_BYTES], const char *name)
{
    size_t used = strlen(names);
    snprintf(names + used, SETTING_NAMES_BYTES - used, "%s%s", used > 0 ? ", " : "", name);
}

bool stream_settings_equal(const json_t *a, const json_t *b, char names[SETTING_NAMES_BYTES])
{
    const char *name;
    json_t *value;
    names[0] = '\0';
    json_object_foreach((json_t *)(uintptr_t)a, name, value) {
        const json_t *other = json_object_get(b, name);
        if (!other || !json_equal(value, other))
            add_name(names, name);
    }
    json_object_foreach((json_t *)(uintptr_t)b, name, value)
        if (!json_object_get(a, name))
            add_name(names, name);
    return names[0] == '\0';
}

static bool is_changeable(const char *name)
{
    const struct stream_option *option = find_option(name);
    char param[NAME_BYTES];
    snprintf(param, sizeof param, "%s", name);
    for (char *c = param; *c; c++)
        if (*c == '-')
            *c = '_';
    return option ? option->is_changeable : oif_pipeline_option_is_changeable(param);
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
        "\"%s\" decides what is learned and cannot be changed while the stream lives", name);
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
