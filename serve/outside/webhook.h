/* Incidents to an address of the web: notice_sender.h, by POST, signed if there is a secret:
 *
 *     Oif-Signature: t=1763460000,v1=HEX      HMAC-SHA256 of "1763460000." and the body */
#ifndef OIF_SERVE_WEBHOOK_H
#define OIF_SERVE_WEBHOOK_H

#include "config.h"
#include "notice_sender.h"

typedef struct webhook webhook;

/* All arguments must live until the stop. On failure, `why` has the cause. */
bool webhook_start(const webhook_config *config, incident_list *incidents, webhook **started,
                   problem *why);
void webhook_stop(webhook *sender); /* accepts NULL */

void webhook_get_figures(webhook *sender, notice_figures *notices, poster_figures *posts);

#endif
