/* Sends the record of each incident to one receiver when it begins and when it is over, on a
 * separate thread. What waits is kept by the list of incidents, also over a restart, so a record
 * may arrive twice after a crash; its id and its member "incident" say so. */
#ifndef OIF_SERVE_NOTICE_SENDER_H
#define OIF_SERVE_NOTICE_SENDER_H

#include "poster.h"
#include "serve/base/problem.h"
#include "serve/incidents/incident_list.h"

typedef struct notice_sender {
    const char *name; /* in messages */
    incident_list *incidents;
    incident_receiver receiver;
    /* Both are called by the thread, with `context`. */
    post_result (*send)(void *context, const incident_notice *notice, double timeout_seconds);
    bool (*may_send)(const void *context); /* the pause after a failure is over */
    void *context;
    double timeout_seconds;

    background beside;
    uint64_t number; /* of the incident that was tried last */
    bool is_end;
    unsigned attempts;
    bool is_failing; /* the latest attempt failed */
    atomic_uint_fast64_t records, dropped;
} notice_sender;

/* The members above `beside` are set. On failure, `why` has the cause. */
bool notice_sender_start(notice_sender *sender, problem *why);

/* Tries once more to send what is waiting, for at most two seconds. */
void notice_sender_stop(notice_sender *sender);

typedef struct notice_figures {
    uint64_t records; /* that were taken */
    uint64_t dropped; /* refused, tried too often, or no room */
    size_t waiting;
} notice_figures;

void notice_sender_get_figures(notice_sender *sender, notice_figures *figures);

#endif
