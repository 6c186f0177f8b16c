#include "alert_queue.h"

#include "front/results/result_fields.h"
#include "front/text/byte_table.h"
#include "front/text/durations.h"
#include "front/text/output.h"
#include "front/text/quoting.h"
#include "front/text/write_json.h"
#include "serve/http/http_client.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* An alert ends on its own after this many missed resends. */
static const double resends_until_end = 4;

/* Follows the address of the page. */
static const char page_place[] = "/#";

typedef struct alert alert;

struct alert {
    byte_item item;                      /* by number, stream and key */
    alert *after;                        /* began later */
    json_t *episode;                     /* the latest state */
    json_t *column;                      /* of the first POST; NULL: none yet */
    uint64_t changes;                    /* that Alertmanager must know */
    uint64_t sent;                       /* of them, those that it knows */
    uint64_t written;                    /* of them, those in the last POST */
    oif_grade sent_grade, written_grade; /* OIF_GRADE_NONE: none yet */
    double due;                          /* when it is sent again unchanged */
    bool is_in_post, is_seen;
    bool is_over; /* ended, or its key no longer exists */
};

struct alert_queue {
    alert_queue_options options;
    oif_grade min_grade;
    byte_table alerts;
    alert *first, **end; /* in order of their start */
};

/* ---- Lifecycle ---- */

static oif_grade grade_of_name(const char *name)
{
    for (oif_grade grade = OIF_GRADE_CRITICAL; grade > OIF_GRADE_NOTE; grade--)
        if (strcmp(name, grade_word(grade)) == 0)
            return grade;
    return OIF_GRADE_NOTE;
}

alert_queue *alert_queue_new(const alert_queue_options *options)
{
    alert_queue *queue = calloc(1, sizeof *queue);
    if (!queue)
        return NULL;
    queue->options = *options;
    queue->min_grade = options->min_grade ? grade_of_name(options->min_grade) : OIF_GRADE_NOTE;
    queue->end = &queue->first;
    return queue;
}

static void close_texts(alert *a)
{
    json_decref(a->episode);
    json_decref(a->column);
}

void alert_queue_free(alert_queue *queue)
{
    if (!queue)
        return;
    for (alert *a = queue->first; a; a = a->after)
        close_texts(a);
    byte_table_free(&queue->alerts);
    free(queue);
}

/* ---- Episodes ---- */

static const char *text_of(const json_t *episode, const char *name)
{
    const char *text = json_string_value(json_object_get(episode, name));
    return text ? text : "";
}

static double number_of(const json_t *episode, const char *name)
{
    const json_t *number = json_object_get(episode, name);
    return json_is_number(number) ? json_number_value(number) : NAN;
}

static oif_grade grade_of(const json_t *episode)
{
    return grade_of_name(text_of(episode, "grade"));
}

static bool is_ended(const json_t *episode)
{
    const json_t *ended = json_object_get(episode, "ended");
    const json_t *is_open = json_object_get(episode, "open");
    return is_open ? json_is_false(is_open) : ended && !json_is_null(ended);
}

__attribute__((format(printf, 1, 2))) static char *made_text(const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int bytes = vsnprintf(NULL, 0, format, arguments);
    char *text = bytes >= 0 ? malloc((size_t)bytes + 1) : NULL;
    if (text)
        vsnprintf(text, (size_t)bytes + 1, format, again);
    va_end(again);
    va_end(arguments);
    return text;
}

/* "3 pumps pump-7": its number, stream and key; a key of null counts as "". NULL: out of memory. */
static char *identity_of(const json_t *episode)
{
    return made_text("%" JSON_INTEGER_FORMAT " %s %s",
                     json_integer_value(json_object_get(episode, "number")),
                     text_of(episode, "stream"), text_of(episode, "key"));
}

/* NULL: the queue is full. */
static alert *add(alert_queue *queue, json_t *episode, const char *identity)
{
    alert *a = queue->alerts.count < queue->options.episodes_max
                   ? byte_table_add(&queue->alerts, identity, strlen(identity), sizeof *a)
                   : NULL;
    if (!a)
        return NULL;
    a->episode = json_incref(episode);
    a->changes = 1;
    a->is_seen = true;
    a->is_over = is_ended(episode);
    *queue->end = a;
    queue->end = &a->after;
    return a;
}

static bool is_done(const alert *a)
{
    return a->is_over && a->sent == a->changes;
}

static void remove_what_is_done(alert_queue *queue)
{
    queue->end = &queue->first;
    for (alert *a = queue->first, *after; a; a = after) {
        after = a->after;
        if (is_done(a)) {
            close_texts(a);
            byte_table_remove(&queue->alerts, a);
            continue;
        }
        *queue->end = a;
        queue->end = &a->after;
    }
    *queue->end = NULL;
}

/* ---- Adding ---- */

/* Whether Alertmanager must know the new state at once. Rows that only prolong an open episode can
 * wait for the next resend. */
static bool is_news(const json_t *before, const json_t *now)
{
    return is_ended(now) || grade_of(now) > grade_of(before);
}

static void replace(alert *a, json_t *episode)
{
    a->changes += is_news(a->episode, episode);
    a->is_over = is_ended(episode);
    json_decref(a->episode);
    a->episode = episode;
}

static bool is_episode(const json_t *episode)
{
    return *text_of(episode, "stream") && json_is_integer(json_object_get(episode, "number"));
}

bool alert_queue_put(alert_queue *queue, json_t *episode)
{
    if (!is_episode(episode))
        return false;
    char *identity = identity_of(episode);
    if (!identity)
        return false;
    alert *a = byte_table_find(&queue->alerts, identity, strlen(identity));
    bool is_taken = true;
    if (a)
        a->is_seen = true;
    /* A state may arrive after a newer one, because it was listed before that; a silence has no
     * rows. */
    if (a && !a->is_over && !(number_of(episode, "last_row") < number_of(a->episode, "last_row")))
        replace(a, json_incref(episode));
    else if (!a && grade_of(episode) >= queue->min_grade) /* others may become worse */
        is_taken = add(queue, episode, identity) != NULL;
    free(identity);
    return is_taken;
}

void alert_queue_begin_all(alert_queue *queue)
{
    for (alert *a = queue->first; a; a = a->after)
        a->is_seen = false;
}

void alert_queue_end_all(alert_queue *queue)
{
    for (alert *a = queue->first; a; a = a->after) {
        if (!a->is_seen && !a->is_over) {
            a->is_over = true;
            a->changes++;
        }
    }
}

/* ---- One alert as JSON ---- */

static void write_labels(const alert_queue *queue, const alert *a, oif_grade grade)
{
    const char *known = json_string_value(a->column), *column = known ? known : "";
    const char *key = text_of(a->episode, "key"), *name;
    json_t *value;
    output_print("{\"labels\":{\"severity\":\"%s\"", grade_word(grade));
    const char *alertname = text_of(a->episode, "alertname");
    if (!json_object_get(queue->options.labels, "alertname"))
        write_json_string("alertname", *alertname ? alertname : "OifAnomaly");
    write_json_string("stream", text_of(a->episode, "stream"));
    if (*key)
        write_json_string("key", key);
    if (*column)
        write_json_string("column", column);
    const json_t *incident = json_object_get(a->episode, "incident");
    if (json_is_integer(incident)) /* the name of a stream needs no escapes */
        output_print(",\"incident\":\"%s/%" JSON_INTEGER_FORMAT "\"", text_of(a->episode, "stream"),
                     json_integer_value(incident));
    json_object_foreach(queue->options.labels, name, value) {
        write_json_string(name, json_string_value(value));
    }
    output_print("}");
}

static void write_number(const alert *a, const char *name)
{
    const double number = number_of(a->episode, name);
    if (isfinite(number))
        output_print(",\"%s\":\"%.4g\"", name, number);
}

/* "pumps, pump-7: pressure high since 2026-11-15T12:15:00Z, 14 rows, severity 3 (note)" */
static void write_summary(const alert *a)
{
    const char *key = text_of(a->episode, "key"), *text = text_of(a->episode, "text");
    char *summary =
        made_text("%s%s%s: %s", text_of(a->episode, "stream"), *key ? ", " : "", key, text);
    write_json_string("summary", summary ? summary : text);
    free(summary);
}

static void write_annotations(const alert *a)
{
    const char *reason = text_of(a->episode, "reason");
    output_print(",\"annotations\":{\"reason\":");
    quoting_write_json(reason, strlen(reason));
    write_json_string("state", text_of(a->episode, "state"));
    write_summary(a);
    write_number(a, "peak_score");
    write_number(a, "peak_severity");
    output_print("}");
}

/* The address of the key on the page. */
static void write_address(const alert_queue *queue, const alert *a)
{
    const char *key = text_of(a->episode, "key"), *page = queue->options.page_url;
    char *place = page ? http_form_add(NULL, "stream", text_of(a->episode, "stream")) : NULL;
    if (place && *key)
        place = http_form_add(place, "key", key);
    char *address = place ? made_text("%s%s%s", page, page_place, place) : NULL;
    if (address)
        write_json_string("generatorURL", address);
    free(address);
    free(place);
}

static void write_moment(const char *name, double seconds)
{
    char text[MOMENT_TEXT_BYTES];
    write_json_string(name, moment_text(seconds, text));
}

/* Times of rows may be from any century, and Alertmanager refuses an end before the start. */
static void write_moments(const alert_queue *queue, const alert *a, bool is_end, double now)
{
    double began = number_of(a->episode, "began"), ended = number_of(a->episode, "ended");
    began = isnan(began) || began > now ? now : began < 0 ? 0 : began;
    ended = isnan(ended) || ended > now ? now : ended < began ? began : ended;
    write_moment("startsAt", began);
    if (is_end)
        write_moment("endsAt", ended);
    else
        write_moment("endsAt", now + resends_until_end * queue->options.resend_seconds);
}

static void write_one(const alert_queue *queue, const alert *a, oif_grade grade, bool is_end,
                      double now)
{
    write_labels(queue, a, grade);
    write_annotations(a);
    write_address(queue, a);
    write_moments(queue, a, is_end, now);
    output_print("}");
}

/* ---- What is due ---- */

static bool is_due(const alert *a, double clock)
{
    return a->sent < a->changes || a->due <= clock;
}

/* Writes an alert; if the episode became worse, first the end under its old grade. */
static void write_alert(const alert_queue *queue, alert *a, double now)
{
    oif_grade grade = grade_of(a->episode);
    if (a->sent_grade > grade)
        grade = a->sent_grade;
    if (a->sent_grade != OIF_GRADE_NONE && a->sent_grade != grade) {
        write_one(queue, a, a->sent_grade, true, now);
        output_print(",");
    }
    write_one(queue, a, grade, a->is_over, now);
    a->written = a->changes;
    a->written_grade = grade;
    a->is_in_post = true;
}

static void keep_column(alert *a)
{
    if (!a->column)
        a->column = json_incref(json_object_get(a->episode, "column"));
}

size_t alert_queue_write(alert_queue *queue, double clock, double now, size_t limit)
{
    size_t written = 0;
    for (alert *a = queue->first; a; a = a->after) {
        a->is_in_post = false;
        if (written == limit || !is_due(a, clock))
            continue;
        keep_column(a);
        output_print(written++ > 0 ? ",\n" : "[");
        write_alert(queue, a, now);
    }
    if (written > 0)
        output_print("]\n");
    return written;
}

void alert_queue_sent(alert_queue *queue, double clock)
{
    for (alert *a = queue->first; a; a = a->after) {
        if (!a->is_in_post)
            continue;
        a->sent = a->written;
        a->sent_grade = a->written_grade;
        a->due = clock + queue->options.resend_seconds;
    }
    remove_what_is_done(queue);
}

size_t alert_queue_count(const alert_queue *queue)
{
    return queue->alerts.count;
}

size_t alert_queue_waiting(const alert_queue *queue)
{
    size_t waiting = 0;
    for (const alert *a = queue->first; a; a = a->after)
        waiting += a->sent < a->changes;
    return waiting;
}
