/* The message about an incident, for `sendmail -t`. */
#ifndef OIF_SERVE_MAIL_MESSAGE_H
#define OIF_SERVE_MAIL_MESSAGE_H

#include "config.h"
#include "serve/incidents/incident_list.h"

/* Written to the (diverted) output. `now` is in seconds since 1970. False: the record is not
 * JSON. */
bool mail_message_write(const mail_config *config, const char *page_url,
                        const incident_notice *notice, double now);

#endif
