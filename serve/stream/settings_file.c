/* settings.json of a stream: its settings, the shape of its bodies, and facts about the
 * snapshot. */
#include "stream_parts.h"

#include "serve/base/folder.h"

#include <stdlib.h>
#include <unistd.h>

enum { SETTINGS_VERSION = 1 };

static bool write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return false;
    bool is_written = fputs(text, file) >= 0 && fputc('\n', file) != EOF && fflush(file) == 0 &&
                      fsync(fileno(file)) == 0;
    return fclose(file) == 0 && is_written;
}

static json_t *snapshot_to_json(const stream_snapshot *snapshot)
{
    const oif_time_format *times = &snapshot->times;
    if (!snapshot->exists)
        return json_null();
    return json_pack("{s:I, s:{s:i, s:i, s:f, s:f, s:b, s:b, s:b}}", "rows",
                     (json_int_t)snapshot->rows, "times", "form", (int)times->form, "year",
                     (int)times->year, "per-second", times->per_second, "last-seconds",
                     times->last_seconds, "has-zone", times->has_zone, "lacks-zone",
                     times->lacks_zone, "is-uncertain", times->is_uncertain);
}

static bool snapshot_from_json(json_t *saved, stream_snapshot *snapshot)
{
    json_int_t rows = 0;
    int form = 0, year = 0, has_zone = 0, lacks_zone = 0, is_uncertain = 0;
    double per_second = 0, last_seconds = 0;
    *snapshot = (stream_snapshot){.exists = false};
    if (json_is_null(saved))
        return true;
    if (json_unpack(saved, "{s:I, s:{s:i, s:i, s:F, s:F, s:b, s:b, s:b}}", "rows", &rows, "times",
                    "form", &form, "year", &year, "per-second", &per_second, "last-seconds",
                    &last_seconds, "has-zone", &has_zone, "lacks-zone", &lacks_zone, "is-uncertain",
                    &is_uncertain) != 0 ||
        rows < 0 || form < OIF_TIME_FORM_NONE || form > OIF_TIME_FORM_PATTERN)
        return false;
    *snapshot = (stream_snapshot){.exists = true,
                                  .rows = (uint64_t)rows,
                                  .times = {.form = (oif_time_form)form,
                                            .year = year,
                                            .per_second = per_second,
                                            .last_seconds = last_seconds,
                                            .has_zone = has_zone,
                                            .lacks_zone = lacks_zone,
                                            .is_uncertain = is_uncertain}};
    return true;
}

char *settings_file_text(const stream *one, json_t *settings, const stream_snapshot *snapshot)
{
    json_t *all = json_pack("{s:i, s:O, s:o, s:o, s:I}", "version", SETTINGS_VERSION, "settings",
                            settings, "found", body_shape_save(&one->shape), "snapshot",
                            snapshot_to_json(snapshot), "bad-rows", (json_int_t)snapshot->bad_rows);
    if (all && one->is_provisional)
        json_object_set_new(all, "provisional", json_true());
    char *text = all ? json_dumps(all, JSON_INDENT(2)) : NULL;
    json_decref(all);
    return text;
}

bool settings_file_put(const stream *one, const char *text, problem *why)
{
    char path[STREAM_PATH_BYTES], new_path[STREAM_PATH_BYTES];
    stream_path(one, "settings.json", path);
    stream_path(one, "settings.json.new", new_path);
    if (!text)
        return problem_set(why, 503, NULL, "out of memory");
    return (write_file(new_path, text) && rename(new_path, path) == 0 &&
            folder_sync(one->folder)) ||
           stream_fail_on_file(why, path, "cannot be written");
}

void settings_file_is(stream *one, json_t *settings, const stream_snapshot *snapshot)
{
    json_incref(settings);
    json_decref(one->kept_settings);
    one->kept_settings = settings;
    one->kept_snapshot = *snapshot;
}

bool settings_file_write(stream *one, json_t *settings, const stream_snapshot *snapshot,
                         problem *why)
{
    char *text = settings_file_text(one, settings, snapshot);
    const bool is_written = settings_file_put(one, text, why);
    free(text);
    if (is_written)
        settings_file_is(one, settings, snapshot);
    return is_written;
}

static bool check_settings(const json_t *all, const char *path, problem *why)
{
    const json_t *version = json_object_get(all, "version");
    const char *missing = !json_is_integer(version)                           ? "version"
                          : !json_is_object(json_object_get(all, "settings")) ? "settings"
                                                                              : NULL;
    if (!json_is_object(all))
        return problem_set(why, 503, stream_copy_remedy, "%s: is not a JSON object", path);
    if (json_integer_value(version) > SETTINGS_VERSION)
        return problem_set(why, 503, "install that version",
                           "%s: was written by a newer version of oif", path);
    return !missing ||
           problem_set(why, 503, stream_copy_remedy, "%s: has no \"%s\"", path, missing);
}

static bool take_settings(stream *one, json_t *all, const char *path, problem *why)
{
    json_t *settings = json_object_get(all, "settings"), *found = json_object_get(all, "found");
    json_int_t bad = json_integer_value(json_object_get(all, "bad-rows"));
    problem refusal;
    if (!check_settings(all, path, why))
        return false;
    if (!stream_settings_open(&one->settings, settings, true, &refusal))
        return problem_set(why, 503, stream_copy_remedy, "%s: %s", path, refusal.message);
    if (found && !body_shape_load(&one->shape, found))
        return problem_set(why, 503, stream_copy_remedy, "%s: \"found\" cannot be used", path);
    if (!snapshot_from_json(json_object_get(all, "snapshot"), &one->kept_snapshot))
        return problem_set(why, 503, stream_copy_remedy, "%s: \"snapshot\" cannot be used", path);
    if (bad < 0)
        return problem_set(why, 503, stream_copy_remedy, "%s: \"bad-rows\" is below 0", path);
    one->kept_settings = json_incref(settings);
    one->is_provisional = json_is_true(json_object_get(all, "provisional"));
    one->bad_rows = one->kept_snapshot.bad_rows = (uint64_t)bad;
    return true;
}

bool settings_file_read(stream *one, problem *why)
{
    char path[STREAM_PATH_BYTES];
    json_error_t error;
    json_t *all = json_load_file(stream_path(one, "settings.json", path), 0, &error);
    if (!all)
        return problem_set(why, 503, stream_copy_remedy, "%s:%d: %s", path, error.line, error.text);
    bool is_read = take_settings(one, all, path, why);
    json_decref(all);
    return is_read;
}
