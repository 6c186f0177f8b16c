#include "notice_sender.h"

#include <stdlib.h>
#include <string.h>

/* With pauses of up to a minute, that is an hour and a half. */
enum { ATTEMPTS_MAX = 100 };

static const double look_seconds = 0.2, last_seconds_max = 2;

/* Returns whether more may follow at once. */
static bool send_next(notice_sender *sender, double timeout_seconds)
{
    incident_notice notice;
    if (!incident_list_next_notice(sender->incidents, sender->receiver, &notice))
        return false;
    if (notice.number != sender->number || notice.is_end != sender->is_end)
        sender->attempts = 0;
    sender->number = notice.number;
    sender->is_end = notice.is_end;
    sender->attempts++;
    const post_result result = sender->send(sender->context, &notice, timeout_seconds);
    const bool is_given_up = result == POST_REFUSED || sender->attempts >= ATTEMPTS_MAX;
    sender->is_failing = result != POST_TAKEN;
    if (result == POST_TAKEN)
        atomic_fetch_add(&sender->records, 1);
    else if (is_given_up)
        atomic_fetch_add(&sender->dropped, 1);
    if (result == POST_TAKEN || is_given_up)
        incident_list_notice_done(sender->incidents, sender->receiver, &notice);
    free(notice.text);
    return result == POST_TAKEN;
}

static void *run(void *context)
{
    notice_sender *sender = context;
    do {
        while (sender->may_send(sender->context) && !atomic_load(&sender->beside.is_stopped) &&
               send_next(sender, sender->timeout_seconds))
            continue;
    } while (background_wait(&sender->beside, look_seconds));
    atomic_store(&sender->beside.is_stopped, false);
    if (!sender->is_failing)
        send_next(sender, last_seconds_max);
    return NULL;
}

bool notice_sender_start(notice_sender *sender, problem *why)
{
    const int failure = background_start(&sender->beside, run, sender);
    return failure == 0 || problem_set(why, 500, NULL, "%s: no thread can be started: %s",
                                       sender->name, strerror(failure));
}

void notice_sender_stop(notice_sender *sender)
{
    background_stop(&sender->beside);
}

void notice_sender_get_figures(notice_sender *sender, notice_figures *figures)
{
    incident_waiting kept;
    incident_list_get_waiting(sender->incidents, sender->receiver, &kept);
    *figures = (notice_figures){.records = atomic_load(&sender->records),
                                .dropped = atomic_load(&sender->dropped) + kept.dropped,
                                .waiting = kept.count};
}
