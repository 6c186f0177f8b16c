#include "silence_monitor.h"

#include "front/results/alert_record.h"
#include "front/results/episode_text.h"
#include "front/text/clock.h"
#include "front/text/cut.h"
#include "front/text/durations.h"
#include "front/text/quoting.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { IDLE_MILLISECONDS = 250, KEY_TEXT_BYTES = 80 };

static bool asks_for_alerts(const run_settings *settings)
{
    const score_settings *score = &settings->score;
    return score->rows == PRINT_ALERTS || score->rows == PRINT_EPISODES || score->watch ||
           score->min_grade != OIF_GRADE_NONE || settings_give_option(settings, "silence");
}

silence_monitor silence_monitor_start(const run_settings *settings, const row_writer *writer,
                                      watch_view *watch, on_alert *actions,
                                      incident_lines *incidents)
{
    const score_settings *score = &settings->score;
    bool is_shown = asks_for_alerts(settings), is_used = is_shown || score->on_alert ||
                                                         score->fail_on_alert ||
                                                         score->rows == PRINT_INCIDENTS;
    return (silence_monitor){.is_wanted = score->time && is_used,
                             .is_shown = is_shown,
                             .is_counted = score->fail_on_alert,
                             .actions = actions,
                             .incidents = score->rows == PRINT_INCIDENTS ? incidents : NULL,
                             .writer = writer,
                             .watch = watch,
                             .key = score->key,
                             .clock = {.latest = NAN}};
}

/* ---- Reports ---- */

/* {"host":"web-1","oif":{"silence":"begins","since":"2026-11-15T19:05:01Z","seconds":300}} */
static void write_record(const silence_monitor *monitor, bool begins, oif_text key, double since,
                         double seconds)
{
    char moment[MOMENT_TEXT_BYTES], number[OIF_NUMBER_TEXT_BYTES];
    output_write("{", 1);
    if (monitor->key) {
        quoting_write_json(monitor->key, strlen(monitor->key));
        output_write(":", 1);
        quoting_write_json(key.text ? key.text : "", key.bytes);
        output_write(",", 1);
    }
    output_print("\"oif\":{\"silence\":\"%s\",\"since\":\"%s\",\"seconds\":%.*s}}\n",
                 begins ? "begins" : "ends", moment_text(since, moment),
                 (int)oif_number_format(seconds, number), number);
}

static void act(const silence_monitor *monitor, bool begins, oif_text key, double since,
                double seconds, const char *sentence)
{
    size_t bytes;
    if (!monitor->actions->command)
        return;
    char *record = alert_record_of_silence(begins, key, since, seconds, sentence, &bytes);
    on_alert_run(monitor->actions, record, bytes, alert_record_silence_series(key), begins,
                 grade_word(OIF_GRADE_NONE));
}

static void report(const silence_monitor *monitor, bool begins, oif_text key, double since,
                   double seconds)
{
    char text[KEY_TEXT_BYTES + SILENCE_TEXT_BYTES + 32], sentence[SILENCE_TEXT_BYTES];
    silence_text(begins, since, seconds, sentence);
    snprintf(text, sizeof text, "%.*s%ssilence %s: %s",
             (int)cut_bytes(key.text, key.bytes, KEY_TEXT_BYTES), key.text ? key.text : "",
             key.text ? ": " : "", begins ? "begins" : "ends", sentence);
    act(monitor, begins, key, since, seconds, text);
    if (monitor->watch)
        watch_note(monitor->watch, text);
    else if (monitor->is_shown && output_format_facts(monitor->writer->format)->has_objects)
        write_record(monitor, begins, key, since, seconds);
    else if (monitor->is_shown || monitor->is_counted)
        note("%s", text);
}

void silence_monitor_begins(silence_monitor *monitor, const oif_silence *silence)
{
    const oif_text key = {silence->key, silence->key_bytes};
    monitor->silences++;
    if (monitor->incidents)
        incident_lines_silence_begins(monitor->incidents, key, silence->since + silence->allowed,
                                      silence->allowed);
    else
        report(monitor, true, key, silence->since, silence->allowed);
}

/* ---- Rows ---- */

void silence_monitor_arrive(silence_monitor *monitor)
{
    if (monitor->idle_since > 0)
        silence_clock_arrive(&monitor->clock, clock_seconds() - monitor->idle_since);
    monitor->idle_since = 0;
}

void silence_monitor_result(silence_monitor *monitor, oif_text key, double seconds,
                            const oif_result *result)
{
    if (!monitor->is_wanted || result->reason != OIF_REASON_SILENCE)
        return;
    if (monitor->incidents)
        incident_lines_silence_ends(monitor->incidents, key, seconds);
    else
        report(monitor, false, key, seconds - result->pause, result->pause);
}

/* ---- Idle time ---- */

int silence_monitor_idle(silence_monitor *monitor, const row_session *session)
{
    const double now = (double)time(NULL);
    if (!monitor->is_wanted || !silence_clock_is_live(&monitor->clock, now))
        return -1;
    if (monitor->idle_since == 0)
        monitor->idle_since = clock_seconds();
    const double seconds = silence_clock_now(&monitor->clock, session->pipeline, now,
                                             clock_seconds() - monitor->idle_since);
    if (!isnan(seconds))
        row_session_look(session, seconds);
    output_flush();
    return IDLE_MILLISECONDS;
}
