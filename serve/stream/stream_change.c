/* Changes to an existing stream: some settings, and its keys. */
#include "stream_parts.h"

#include "front/options/rule_options.h"
#include "serve/base/background.h"
#include "serve/base/json_options.h"

#include <stdlib.h>
#include <string.h>

/* ---- Settings ---- */

/* Sets the options of the pipeline that differ. Alert options exclude each other and the last one
 * wins, so the given options are set last, in a second turn. */
static bool change_options(oif_pipeline *pipeline, const run_settings *settings, problem *why)
{
    const oif_param_table *table = settings->options.table;
    for (size_t turn = 0; turn < 2 * table->param_count; turn++) {
        const size_t i = turn % table->param_count;
        const bool are_given = turn >= table->param_count;
        const char *name = table->params[i].name;
        oif_error error;
        double value = 0;
        if (!oif_pipeline_option_is_changeable(name) || settings->is_option_given[i] != are_given)
            continue;
        if (oif_params_get(oif_pipeline_options(pipeline), name, &value, NULL) == OIF_OK &&
            value == settings->options.values[i])
            continue;
        if (oif_pipeline_change_option(pipeline, name, settings->options.values[i], &error) !=
            OIF_OK)
            return problem_set_error(why, 409, NULL, &error);
    }
    oif_error error;
    return given_rules_replace(&settings->score.rules, pipeline, &error) ||
           problem_set_error(why, 400, NULL, &error);
}

/* As texts: a list of names may also be one text. */
static bool is_same_setting(const json_t *a, const json_t *b)
{
    json_t *texts = json_array();
    const char *left = json_option_text(a, texts), *right = b ? json_option_text(b, texts) : NULL;
    bool is_same = left && right ? strcmp(left, right) == 0 : json_equal(a, b);
    json_decref(texts);
    return is_same;
}

bool stream_check_settings(stream *one, json_t *settings, problem *why)
{
    const char *name;
    json_t *value;
    bool is_same = true;
    stream_read_lock(one);
    json_object_foreach(settings, name, value) {
        if (!is_same || is_same_setting(value, json_object_get(one->settings.object, name)))
            continue;
        is_same =
            problem_set(why, 409, "Leave the parameter out, or use another stream.",
                        "%s: the stream was made with another \"%s\", or with none", name, name);
    }
    stream_read_unlock(one);
    return is_same;
}

json_t *stream_copy_settings(stream *one)
{
    stream_read_lock(one);
    json_t *copy = json_deep_copy(one->settings.object);
    stream_read_unlock(one);
    return copy;
}

int stream_format(stream *one)
{
    stream_read_lock(one);
    int format = one->settings.cli.format;
    stream_read_unlock(one);
    return format;
}

bool stream_apply_settings(stream *one, json_t *object, bool is_in_state, problem *why)
{
    stream_settings changed;
    if (!stream_settings_open(&changed, object, one->folder != NULL, why))
        return false;
    if (one->pipeline && !is_in_state && !change_options(one->pipeline, &changed.cli, why)) {
        problem ignored; /* valid: the stream had them before */
        change_options(one->pipeline, &one->settings.cli, &ignored);
        stream_settings_close(&changed);
        return false;
    }
    for (size_t i = 0; i < BODY_READERS; i++)
        body_reader_close(&one->readers[i]); /* it writes what the settings ask for */
    stream_settings_close(&one->settings);
    one->settings = changed;
    one->settings.cli.state = one->name; /* its name in messages */
    if (one->pipeline) {
        one->settings.cli.score.time = one->shape.time;
        one->times.column = one->shape.time;
    }
    one->changes++;
    return true;
}

static bool keep_settings(stream *one, const json_t *object, problem *why)
{
    char *text = json_dumps(object, JSON_COMPACT);
    if (!text)
        return problem_set(why, 503, NULL, "out of memory");
    const journal_record record = {.kind = JOURNAL_SETTINGS,
                                   .first_row = stream_row_count(one),
                                   .seconds = background_wall_seconds(),
                                   .payload = text,
                                   .bytes = strlen(text)};
    bool is_kept = stream_keep_record(one, &record, why);
    free(text);
    return is_kept;
}

bool stream_check_usable(const stream *one, problem *why)
{
    if (one->is_removed)
        return problem_set(why, 404, NULL, "there is no stream \"%s\" any more", one->name);
    return !one->is_broken || stream_publish_broken(one, why);
}

static bool change_now(stream *one, json_t *settings, problem *why)
{
    json_t *changed = stream_check_usable(one, why)
                          ? stream_settings_change(&one->settings, settings, why)
                          : NULL;
    bool is_good = changed && keep_settings(one, changed, why);
    if (is_good && !stream_apply_settings(one, changed, false, why)) {
        is_good = false;
        if (one->folder)
            journal_undo(&one->log);
    }
    json_decref(changed);
    return is_good;
}

bool stream_change(stream *one, json_t *settings, problem *why)
{
    stream_begin_change(one);
    bool is_good = change_now(one, settings, why);
    stream_end_change(one);
    if (is_good)
        stream_sync(one);
    return is_good;
}

/* ---- Keys ---- */

void stream_drop_key(stream *one, const char *key, size_t key_bytes, double now)
{
    history_key *known = history_find(one->past, key, key_bytes);
    oif_error ignored;
    if (one->pipeline && oif_pipeline_remove_key(one->pipeline, key, key_bytes, &ignored) == OIF_OK)
        one->changes++;
    if (known && known->open)
        stream_leave_incident(one, known->open, now);
    if (known)
        history_forget(one->past, known);
    if (one->trends)
        trend_file_forget(one->trends, history_hash(key, key_bytes));
}

static bool has_key(const stream *one, const char *key, size_t key_bytes)
{
    oif_key_info info;
    return (one->pipeline && oif_pipeline_key(one->pipeline, key, key_bytes, &info)) ||
           history_find(one->past, key, key_bytes);
}

bool stream_forget_key(stream *one, const char *key, size_t key_bytes, problem *why)
{
    stream_begin_change(one);
    const journal_record record = {.kind = JOURNAL_FORGET,
                                   .first_row = stream_row_count(one),
                                   .seconds = background_wall_seconds(),
                                   .payload = key,
                                   .bytes = key_bytes};
    bool is_good = stream_check_usable(one, why) &&
                   (has_key(one, key, key_bytes) ||
                    problem_set(why, 404, NULL, "the stream has no such key")) &&
                   stream_keep_record(one, &record, why);
    if (is_good)
        stream_drop_key(one, key, key_bytes, record.seconds);
    stream_end_change(one);
    if (is_good)
        stream_sync(one);
    return is_good;
}
