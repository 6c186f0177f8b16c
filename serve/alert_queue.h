/* The episodes that Alertmanager is to know, each in its latest state.
 *
 * An episode is put here when it begins, changes or ends, and again and again while it is open.
 * What is due is written as the body of one POST; it stays due until the POST has succeeded. An
 * alert has an end in the near future that moves on with every resend: so an oif that has died
 * leaves no alert behind. An episode that ended leaves the queue once that is sent.
 *
 * Alertmanager knows an alert by its labels. The grade is one of them, so an episode that becomes
 * worse ends under its old grade and begins under the new one, in the same POST. The column is that
 * of the first POST, so an alert does not begin again because its worst row has another reason.
 *
 * Not for several threads at once, except that the texts written do not belong to the queue. */
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
    json_t *labels;        /* that every alert has; may be NULL */
    const char *page_url;  /* of the live page; NULL: alerts have no address */
} alert_queue_options;

/* NULL: memory was short. What the options point to must live as long as the queue. */
alert_queue *alert_queue_new(const alert_queue_options *options);
void alert_queue_free(alert_queue *queue);

/* An episode as the API writes it; the queue holds it too, so it must not be changed any more.
 * Returns false if the object is not an episode, or if the queue is full. */
bool alert_queue_put(alert_queue *queue, json_t *episode);

/* Around putting all open episodes of all streams: episodes that are open here and were not put
 * meanwhile are over, because their stream or key was removed. */
void alert_queue_begin_all(alert_queue *queue);
void alert_queue_end_all(alert_queue *queue);

/* Writes what is due at this time of clock_seconds() to the output, at most `limit` episodes;
 * `now` is in seconds since 1970. Returns how many episodes there are in it; 0: nothing is
 * written. */
size_t alert_queue_write(alert_queue *queue, double clock, double now, size_t limit);

/* After the POST of what was written last. */
void alert_queue_sent(alert_queue *queue, double clock);

/* When the next is due, on the same clock; infinity: never. */
double alert_queue_next(const alert_queue *queue);

/* Episodes here, and those of them whose latest state is not sent. */
size_t alert_queue_count(const alert_queue *queue);
size_t alert_queue_waiting(const alert_queue *queue);

#endif
