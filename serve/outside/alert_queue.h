/* The episodes to send to Alertmanager, each in its latest state.
 *
 * An episode is put here when it begins, changes or ends, and repeatedly while it is open. Due
 * episodes are written as the body of one POST, and stay due until the POST has succeeded. An alert
 * ends in the near future, and every resend moves that end: so if oif dies, its alerts expire. An
 * ended episode leaves the queue once its end is sent.
 *
 * Alertmanager identifies an alert by its labels. The grade is one of them, so an episode that
 * becomes worse ends under its old grade and begins under the new one, in the same POST. The column
 * is that of the first POST, so an alert does not start again because its worst row has another
 * reason.
 *
 * Not thread-safe, except that the texts written do not belong to the queue. */
#ifndef OIF_SERVE_ALERT_QUEUE_H
#define OIF_SERVE_ALERT_QUEUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct alert_queue alert_queue;

typedef struct alert_queue_options {
    size_t episodes_max;
    double resend_seconds;
    const char *min_grade; /* lower ones are not sent; NULL: all are */
    json_t *labels;        /* of every alert; may be NULL */
    const char *page_url;  /* of the live page; NULL: alerts have no address */
} alert_queue_options;

/* NULL: out of memory. What the options point to must outlive the queue. */
alert_queue *alert_queue_new(const alert_queue_options *options);
void alert_queue_free(alert_queue *queue);

/* Adds an episode as the API writes it. The queue shares it, so it must not change any more.
 * Returns false if the object is not an episode, or if the queue is full. */
bool alert_queue_put(alert_queue *queue, json_t *episode);

/* Call these around putting all open episodes of all streams. Open episodes that were not put in
 * between are over, because their stream or key was removed. */
void alert_queue_begin_all(alert_queue *queue);
void alert_queue_end_all(alert_queue *queue);

/* Writes what is due at this time of clock_seconds() to the output, at most `limit` episodes; `now`
 * is in seconds since 1970. Returns the number of episodes; if 0, nothing is written. */
size_t alert_queue_write(alert_queue *queue, double clock, double now, size_t limit);

/* Call it after the POST of what was written last. */
void alert_queue_sent(alert_queue *queue, double clock);

/* Episodes in the queue, and those whose latest state is not sent. */
size_t alert_queue_count(const alert_queue *queue);
size_t alert_queue_waiting(const alert_queue *queue);

#endif
