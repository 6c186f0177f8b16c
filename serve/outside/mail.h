/* Incidents by mail: notice_sender.h, by a command such as sendmail, which gets the message on its
 * stdin. No text from outside is in a header of the message, nor in an argument of the command. */
#ifndef OIF_SERVE_MAIL_H
#define OIF_SERVE_MAIL_H

#include "config.h"
#include "notice_sender.h"

typedef struct mail mail;

/* All arguments must live until the stop. On failure, `why` has the cause. */
bool mail_start(const mail_config *config, const char *page_url, incident_list *incidents,
                mail **started, problem *why);
void mail_stop(mail *sender); /* accepts NULL */

typedef struct mail_figures {
    uint64_t runs, failures; /* of the command */
    bool is_failing;
} mail_figures;

void mail_get_figures(mail *sender, notice_figures *notices, mail_figures *figures);

#endif
