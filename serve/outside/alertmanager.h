/* Sends episodes and silences of all streams to Alertmanager (API v2), on a separate thread, so
 * streams never wait for it. The thread watches the feed, and now and then lists what is open, to
 * recover what the feed has lost. After a restart open episodes are sent again, and Alertmanager
 * recognises them by their labels. */
#ifndef OIF_SERVE_ALERTMANAGER_H
#define OIF_SERVE_ALERTMANAGER_H

#include "config.h"
#include "serve/stream/streams.h"

typedef struct alertmanager alertmanager;

/* `page_url` is the public address of the live page, such as http://host:8571, or NULL. All
 * arguments must live until the stop. On failure, `why` has the cause. */
bool alertmanager_start(const alertmanager_config *config, const char *page_url, streams *all,
                        alertmanager **started, problem *why);

/* Tries once more to send what is waiting, for at most two seconds; open episodes stay open.
 * Accepts NULL. */
void alertmanager_stop(alertmanager *sender);

/* How many episodes wait to be sent, and whether the latest request failed. Any thread may ask. */
size_t alertmanager_waiting(const alertmanager *sender);
bool alertmanager_is_failing(const alertmanager *sender);

#endif
