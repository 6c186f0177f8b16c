/* Episodes and silences of all streams, sent to Alertmanager (API v2) by a thread of its own, so
 * streams never wait for it. It watches the feed, and lists what is open now and then, which makes
 * up for what the feed has lost meanwhile. After a restart open episodes are sent again, which
 * Alertmanager knows by their labels; those that have ended are not. */
#ifndef OIF_SERVE_ALERTMANAGER_H
#define OIF_SERVE_ALERTMANAGER_H

#include "config.h"
#include "streams.h"

typedef struct alertmanager alertmanager;

/* `page_url` is that of the live page as people reach it, such as http://host:8571, or NULL. All
 * arguments must live until the stop. On failure `why` says the cause. */
bool alertmanager_start(const alertmanager_config *config, const char *page_url, streams *all,
                        alertmanager **started, problem *why);

/* Tries once more to send what is waiting, for two seconds at most; open episodes stay open. NULL
 * is fine. */
void alertmanager_stop(alertmanager *sender);

typedef struct alertmanager_figures {
    uint64_t posts, failures; /* requests, and those of them without success */
    uint64_t alerts;          /* in requests with success */
    uint64_t dropped;         /* episodes for which there was no room */
    size_t episodes, waiting; /* held, and those of them whose latest state is not sent */
    bool is_failing;
} alertmanager_figures;

void alertmanager_get_figures(alertmanager *sender, alertmanager_figures *figures);

#endif
