/* Sends the record of each incident to an address of the web when it begins and when it is over, on
 * a separate thread: by POST, signed if there is a secret:
 *
 *     Oif-Signature: t=1763460000,v1=HEX      HMAC-SHA256 of "1763460000." and the body
 *
 * What waits is kept by the streams, also over a restart, so a record may arrive twice after a
 * crash; its stream, its id and its member "incident" say so. */
#ifndef OIF_SERVE_WEBHOOK_H
#define OIF_SERVE_WEBHOOK_H

#include "config.h"
#include "poster.h"
#include "serve/stream/streams.h"

typedef struct webhook webhook;

/* All arguments must live until the stop. On failure, `why` has the cause. */
bool webhook_start(const webhook_config *config, streams *all, webhook **started, problem *why);

/* Tries once more to send what is waiting, for at most two seconds. Accepts NULL. */
void webhook_stop(webhook *sender);

/* Any thread may ask. */
size_t webhook_waiting(webhook *sender); /* records */
bool webhook_is_failing(const webhook *sender);

#endif
