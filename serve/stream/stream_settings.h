/* The settings of a stream: the options of `oif score` without their dashes, as JSON.
 *
 *     {"key": "host", "time": "ts", "alert-rate": 0.001, "season": ["1d", "1w"]}
 *
 * They are set with the tool's own table of options, so the same checks apply. Only the service has
 * "end-after": "1h", or "never"; and the rule for samples (serve/agents/sample_rule.h). */
#ifndef OIF_SERVE_STREAM_SETTINGS_H
#define OIF_SERVE_STREAM_SETTINGS_H

#include "front/options/options.h"
#include "serve/base/problem.h"

#include <jansson.h>

typedef struct stream_settings {
    json_t *object; /* as given, with dashes in names */
    json_t *texts;  /* of its numbers and lists; `cli` points into both */
    run_settings cli;
    double end_after_seconds; /* without rows an open episode ends; infinite: never */
    double row_wait_seconds;  /* a row waits that long for samples of later requests; 0: not */
    double row_span_seconds;  /* samples that are closer to each other are one row */
} stream_settings;

/* `object` may be NULL; the caller still owns it. Without a folder nothing can be stored, and
 * settings that need storage are refused. There is nothing to close unless it returns true. */
bool stream_settings_open(stream_settings *settings, json_t *object, bool has_folder, problem *why);
void stream_settings_close(stream_settings *settings);

/* How many models a stream with these settings has at most: 1 if it has no keys. 0: they are
 * wrong. */
size_t stream_settings_keys_max(json_t *object);

/* Whether a stream with these settings is what was asked for: it has the same ones, and may have
 * more rules. Else `names` has some that differ: "key, season". */
enum { SETTING_NAMES_BYTES = 256 };
bool stream_settings_fit(const json_t *asked, const json_t *settings,
                         char names[SETTING_NAMES_BYTES]);

/* The settings after a change; null removes one. The caller frees them with json_decref. Refuses,
 * with 409, settings that cannot change later. */
json_t *stream_settings_change(const stream_settings *settings, json_t *change, problem *why);

#endif
