/* A stream as JSON: alerts, episodes and silences, for events and answers. */
#include "stream_parts.h"

#include "front/results/episode_text.h"
#include "front/text/cut.h"
#include "front/text/quoting.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void stream_begin_object(const stream *one, const char *key, size_t key_bytes)
{
    output_print("{\"stream\":\"%s\",\"key\":", one->name); /* names need no escapes */
    write_json_key(one->settings.cli.score.key != NULL, key, key_bytes);
}

/* ---- Alerts ---- */

static void write_reason(const row_verdict *verdict, size_t column)
{
    const oif_attribution *why = &verdict->fields->attributions[column];
    const char *name = verdict->fields->names[column];
    char unusual[FIELD_TEXT_BYTES], text[2 * FIELD_TEXT_BYTES], share[SHARE_TEXT_BYTES];
    result_fields_column_text(verdict, column, unusual, sizeof unusual);
    snprintf(text, sizeof text, "%.*s %s%s", (int)cut_bytes(name, strlen(name), 2000), name,
             unusual, result_fields_share_text(why->share, share));
    output_print("{\"column\":");
    quoting_write_json(name, strlen(name));
    output_print(",\"share\":%.2f,\"direction\":\"%s\"", why->share,
                 result_fields_direction(verdict, column));
    if (why->reason == OIF_REASON_PARTNER)
        write_json_string("partner", verdict->fields->names[why->partner]);
    bool is_category = why->reason == OIF_REASON_NEW_VALUE || why->reason == OIF_REASON_RARE_VALUE;
    write_json_member("value", is_category ? NAN : verdict->values[column]);
    result_fields_write_expected(verdict, column);
    write_json_string("text", text);
    output_print("}");
}

void stream_write_alert(const stream *one, const row_verdict *verdict, uint64_t row,
                        const history_key *key)
{
    const oif_result *result = &verdict->result;
    stream_begin_object(one, key->info.key, key->info.key_bytes);
    output_print(",\"row\":%" PRIu64, row);
    write_json_member("time", verdict->seconds);
    write_json_member("score", result->score);
    write_json_member("threshold", result->threshold);
    write_json_member("severity", rounded_severity(result->severity));
    output_print(",\"anomaly\":%s", result->anomaly ? "true" : "false");
    write_json_text("grade", grade_word(result->grade));
    if (verdict->episode.number > 0)
        output_print(",\"episode\":%" PRIu64, verdict->episode.number);
    else
        output_print(",\"episode\":null");
    output_print(",\"reasons\":[");
    for (size_t i = 0; i < verdict->reason_count; i++) {
        output_print(i > 0 ? "," : "");
        write_reason(verdict, result_fields_reason_column(verdict, i));
    }
    output_print("]}");
}

/* ---- Episodes ---- */

/* Of a stream without times of its rows, the sentence names rows. */
static void make_sentence(const stream_episode *episode, char text[EPISODE_TEXT_BYTES])
{
    const episode_facts facts = {.reason = episode->reason,
                                 .first_seconds = episode->has_time ? episode->began : NAN,
                                 .last_seconds = episode->has_time ? episode->last_seen : NAN,
                                 .first_row = episode->first_row,
                                 .last_row = episode->last_row,
                                 .rows = episode->rows,
                                 .peak_severity = episode->peak_severity,
                                 .grade = episode->grade,
                                 .is_over = episode->is_over};
    episode_text(&facts, (oif_text){NULL, 0}, text); /* the key is a member of its own */
}

void stream_episode_write(const stream_episode *episode)
{
    output_print("{\"stream\":\"%s\",\"key\":", episode->stream);
    write_json_key(episode->has_key, episode->key, episode->key_bytes);
    output_print(",\"number\":%" PRIu64 ",\"first_row\":%" PRIu64 ",\"last_row\":%" PRIu64,
                 episode->number, episode->first_row, episode->last_row);
    write_json_member("began", episode->began);
    write_json_member("ended", episode->is_over ? episode->ended : NAN);
    write_json_member("last_seen", episode->last_seen);
    if (episode->incident > 0)
        output_print(",\"incident\":%" PRIu64, episode->incident);
    else
        output_print(",\"incident\":null");
    write_json_text("state", episode->is_over         ? NULL
                             : episode->is_recovering ? watch_words[WATCH_RECOVERING]
                                                      : watch_words[WATCH_ALERT]);
    output_print(",\"open\":%s,\"anomalies\":%" PRIu64 ",\"rows\":%" PRIu64,
                 episode->is_over ? "false" : "true", episode->anomalies, episode->rows);
    write_json_member("peak_score", episode->peak_score);
    write_json_member("peak_severity", rounded_severity(episode->peak_severity));
    write_json_text("grade", grade_word(episode->grade));
    write_json_text("reason", episode->reason);
    write_json_text("column", episode->column);
    write_json_string("text", episode->text);
    write_json_text("ended_by", episode->is_ended_by_silence ? "silence" : NULL);
    output_print("}");
}

/* ---- Visits ---- */

typedef struct episode_visit {
    void (*visit)(void *context, const stream_episode *episode);
    void *context;
} episode_visit;

static void visit_episode(const stream *one, const history_episode *episode,
                          const episode_visit *to)
{
    char text[EPISODE_TEXT_BYTES];
    stream_episode info = episode->info;
    info.stream = one->name;
    info.column = info.column ? info.column : "";
    info.reason = info.reason ? info.reason : "";
    make_sentence(&info, text);
    info.text = text;
    info.is_recovering = !info.is_over && stream_is_recovering(one, episode);
    info.has_key = one->settings.cli.score.key != NULL;
    to->visit(to->context, &info);
}

static void write_visited(void *context, const stream_episode *episode)
{
    (void)context;
    stream_episode_write(episode);
}

void stream_visit_open(const stream *one,
                       void (*visit)(void *context, const stream_episode *episode), void *context)
{
    const episode_visit to = {visit, context};
    for (const history_episode *open = one->past->open; open; open = open->older)
        visit_episode(one, open, &to);
}

void stream_visit_ended(const stream *one,
                        void (*visit)(void *context, const stream_episode *episode), void *context)
{
    const episode_visit to = {visit, context};
    for (size_t i = 0; i < one->past->ended_count; i++)
        visit_episode(one, history_ended_at(one->past, i), &to);
}

void stream_each_open_episode(stream *one,
                              void (*visit)(void *context, const stream_episode *episode),
                              void *context)
{
    stream_read_lock(one);
    stream_visit_open(one, visit, context);
    stream_read_unlock(one);
}

/* ---- Events ---- */

/* Publishes the text started with output_divert. */
static void tell(const stream *one, feed_kind kind, const char *key, size_t key_bytes)
{
    size_t bytes;
    char *text = output_diverted(&bytes);
    if (text)
        feed_add(one->events, kind, one->name, key, key_bytes, text, bytes);
    free(text);
}

void stream_write_episode(const stream *one, const history_episode *episode)
{
    const episode_visit to = {write_visited, NULL};
    visit_episode(one, episode, &to);
}

void stream_publish_episode(const stream *one, const history_episode *episode)
{
    if (one->is_replaying)
        return;
    output_divert();
    stream_write_episode(one, episode);
    tell(one, FEED_EPISODE, episode->info.key, episode->info.key_bytes);
}

void stream_publish_silence(const stream *one, const char *key, size_t key_bytes, bool begins,
                            double since, double seconds)
{
    char text[SILENCE_TEXT_BYTES];
    if (one->is_replaying)
        return;
    output_divert();
    if (key)
        stream_begin_object(one, key, key_bytes);
    else
        output_print("{\"stream\":\"%s\",\"key\":null", one->name);
    output_print(",\"silence\":\"%s\"", begins ? "begins" : "ends");
    write_json_member("since", since);
    write_json_member("seconds", seconds);
    silence_text(begins, since, seconds, text);
    write_json_string("text", text);
    output_print("}");
    tell(one, FEED_SILENCE, key ? key : "", key_bytes);
}

void stream_publish_rows(stream *one)
{
    uint64_t rows = stream_row_count(one), saved = one->saved;
    if (rows == one->told_rows && saved == one->told_saved)
        return;
    one->told_rows = rows;
    one->told_saved = saved;
    output_divert();
    output_print("{\"name\":\"%s\",\"rows\":%" PRIu64 ",\"saved\":%" PRIu64 "}", one->name, rows,
                 saved);
    tell(one, FEED_STREAM, "", 0);
}
