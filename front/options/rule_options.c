#include "rule_options.h"

#include "front/text/cut.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char no_memory[] = "a shorter list, as there is no memory for this one";

/* ---- Adding lines ---- */

/* Appends a line to rules that are built. Returns false if out of memory. */
static bool append(given_rules *rules, const char *line, size_t bytes)
{
    char *larger = realloc(rules->text, rules->bytes + bytes + 1);
    if (!larger)
        return false;
    memcpy(larger + rules->bytes, line, bytes);
    larger[rules->bytes + bytes] = '\n';
    rules->text = larger;
    rules->bytes += bytes + 1;
    return true;
}

/* Checks the lines and adds them. Returns NULL, or what is wrong. */
static const char *add_lines(run_settings *settings, const char *lines, size_t bytes)
{
    given_rules *rules = &settings->score.rules;
    oif_error error;
    rules->is_given = true;
    if (oif_rules_check(lines, bytes, &error) != OIF_OK) {
        char place[32] = "";
        if (error.line > 1)
            snprintf(place, sizeof place, "line %llu: ", (unsigned long long)error.line);
        snprintf(rules->wrong, sizeof rules->wrong, "a rule (%s%.180s)", place, error.message);
        return rules->wrong;
    }
    return append(rules, lines, bytes) ? NULL : no_memory;
}

/* ---- Options ---- */

const char *rule_mute(run_settings *settings, const char *value)
{
    const bool has_verb = strncmp(value, "mute ", 5) == 0 || strncmp(value, "ignore ", 7) == 0;
    const char first = value[strspn(value, " \t")];
    if (first == '\0' || first == '#') /* it would mute everything */
        return "a rule such as 'column=latency direction=low'";
    if (strchr(value, '\n'))
        return "one line";
    char *line = malloc(sizeof "mute " + strlen(value));
    if (!line)
        return no_memory;
    const int bytes = sprintf(line, "%s%s", has_verb ? "" : "mute ", value);
    const char *wrong = add_lines(settings, line, (size_t)bytes);
    free(line);
    return wrong;
}

/* Reads a file of at most 1 MB; NULL with errno if that fails. */
static char *read_file(const char *path, size_t *bytes)
{
    enum { MOST_BYTES = 1 << 20 };
    FILE *file = fopen(path, "rb");
    char *text = file ? malloc(MOST_BYTES + 1) : NULL;
    *bytes = text ? fread(text, 1, MOST_BYTES + 1, file) : 0;
    int reason = text ? 0 : errno;
    if (text && ferror(file))
        reason = errno;
    else if (*bytes > MOST_BYTES)
        reason = EFBIG;
    if (file)
        fclose(file);
    if (reason == 0)
        return text;
    free(text);
    errno = reason;
    return NULL;
}

const char *rule_file(run_settings *settings, const char *value)
{
    given_rules *rules = &settings->score.rules;
    size_t bytes;
    char *text = read_file(value, &bytes);
    if (!text) {
        snprintf(rules->wrong, sizeof rules->wrong, "a file that can be read (%s)",
                 strerror(errno));
        return rules->wrong;
    }
    const char *wrong = add_lines(settings, text, bytes);
    free(text);
    return wrong;
}

/* ---- Pipelines ---- */

static bool has_text(const given_rules *rules)
{
    for (size_t i = 0; i < rules->bytes; i++)
        if (!strchr(" \t\r\n", rules->text[i]))
            return true;
    return false;
}

static bool has_line(const given_rules *rules, const char *line)
{
    const size_t bytes = strlen(line);
    if (!rules->text)
        return false;
    for (const char *at = rules->text, *end = at + rules->bytes; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const size_t here = (size_t)((newline ? newline : end) - at);
        if (here == bytes && memcmp(at, line, bytes) == 0)
            return true;
        at += here + 1;
    }
    return false;
}

/* The rules that are given, and behind them those that `oif state feedback` has added to the
 * state. */
static bool add_accepted(const given_rules *given, const oif_pipeline *pipeline, given_rules *all)
{
    oif_rule_info rule;
    bool is_added = given->bytes == 0 || append(all, given->text, given->bytes);
    for (size_t i = 0; is_added && oif_pipeline_rule(pipeline, i, &rule); i++)
        if (strstr(rule.text, RULE_FEEDBACK_MARK) && !has_line(given, rule.text))
            is_added = append(all, rule.text, strlen(rule.text));
    return is_added;
}

bool given_rules_replace(const given_rules *rules, oif_pipeline *pipeline, oif_error *error)
{
    given_rules all = {.is_given = true};
    bool is_done = add_accepted(rules, pipeline, &all);
    if (is_done)
        is_done =
            oif_pipeline_set_rules(pipeline, all.text ? all.text : "", all.bytes, error) == OIF_OK;
    else
        *error = (oif_error){.status = OIF_EMEMORY, .message = "out of memory"};
    free(all.text);
    return is_done;
}

/* Without names a rule calls columns by their numbers. The library cannot refuse others, as names
 * may come later: it checks the rules for a small pipeline that has the numbers as names. */
static exit_code check_numbers(const given_rules *rules, const oif_pipeline *pipeline)
{
    enum { NUMBER_BYTES = 24 };
    const size_t columns = oif_pipeline_columns(pipeline);
    if (oif_pipeline_column_name(pipeline, 0) || !has_text(rules))
        return EXIT_OK;
    oif_pipeline *numbered = NULL;
    oif_params params;
    oif_error error;
    char(*numbers)[NUMBER_BYTES] = calloc(columns, sizeof *numbers);
    const char **names = calloc(columns, sizeof *names);
    bool is_made = numbers && names && oif_params_init(&params, "loda", &error) == OIF_OK &&
                   oif_pipeline_new(&params, columns, NULL, &numbered, &error) == OIF_OK;
    for (size_t i = 0; is_made && i < columns; i++) {
        snprintf(numbers[i], sizeof *numbers, "%zu", i + 1);
        names[i] = numbers[i];
    }
    is_made = is_made && oif_pipeline_name_columns(numbered, names, &error) == OIF_OK;
    exit_code code = is_made ? EXIT_OK : complain(EXIT_FAILED, "out of memory");
    if (is_made && oif_pipeline_set_rules(numbered, rules->text, rules->bytes, &error) != OIF_OK &&
        error.cause == OIF_CAUSE_UNKNOWN_COLUMN)
        code = complain_because(
            &(complaint_reason){
                .cause = error.cause, .shell = "", .service = "Change the setting with PATCH."},
            EXIT_USAGE, "%s: columns have no names here, but numbers from 1 to %zu", error.message,
            columns);
    oif_pipeline_free(numbered);
    free(names);
    free(numbers);
    return code;
}

exit_code settings_apply_rules(const run_settings *settings, oif_pipeline *pipeline)
{
    const given_rules *given = &settings->score.rules;
    oif_error error;
    if (!given->is_given)
        return EXIT_OK;
    const exit_code code = check_numbers(given, pipeline);
    if (code != EXIT_OK)
        return code;
    bool is_applied = has_text(given) ? given_rules_replace(given, pipeline, &error)
                                      : oif_pipeline_set_rules(pipeline, "", 0, &error) == OIF_OK;
    if (is_applied)
        return EXIT_OK;
    const bool is_name = error.cause == OIF_CAUSE_UNKNOWN_COLUMN;
    const complaint_reason why = {.cause = error.cause,
                                  .shell = is_name ? "; --verbose lists the columns" : "",
                                  .service = "Change the setting with PATCH."};
    return complain_because(&why, error.status == OIF_EMEMORY ? EXIT_FAILED : EXIT_USAGE, "%s",
                            error.message);
}
