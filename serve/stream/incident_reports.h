/* The incidents of a stream: which of its episodes begin together.
 *
 *     episodes --begin, worse, end--> oif_incidents: the open ones
 *                                       |--> an event for each change
 *                                       `--> reports: the records of those that are over, and those
 *                                            that the webhook is to send
 *
 * They are stored with the history. A replay of the journal makes the same reports with the same
 * numbers, and a record JOURNAL_REPORTED says up to which one they were sent. */
#ifndef OIF_SERVE_INCIDENT_REPORTS_H
#define OIF_SERVE_INCIDENT_REPORTS_H

#include "serve/base/bytes_left.h"

#include "oif.h"

#include <stdint.h>

enum {
    INCIDENT_MEMBERS_MAX = 4096,
    INCIDENT_REPORTS_MAX = 100,
    INCIDENT_REPORT_BYTES_MAX = 4 << 20 /* together; but there may be one longer report */
};

typedef struct incident_report {
    uint64_t number;   /* from 1 */
    uint64_t incident; /* its number in the stream */
    double made;       /* by the wall clock */
    double end;        /* of the incident; NaN: it lasted */
    bool waits;        /* to be sent */
    char *text;        /* the record */
    size_t bytes;
} incident_report;

typedef struct incident_reports {
    incident_report list[INCIDENT_REPORTS_MAX]; /* the oldest first, which leaves for a new one */
    size_t count, bytes;
} incident_reports;

typedef struct stream_incidents {
    oif_incidents *open; /* NULL: there was none yet */
    incident_reports reports;
    uint64_t report_numbers;
    uint64_t sent, kept_sent; /* all reports up to here; what the journal has of that */
} stream_incidents;

void incident_reports_add(incident_reports *reports, const incident_report *added);
const incident_report *incident_reports_first(const incident_reports *reports); /* that waits */
size_t incident_reports_waiting(const incident_reports *reports);
void incident_reports_free(incident_reports *reports);

/* All reports up to a number were sent. */
void incident_reports_sent(incident_reports *reports, uint64_t number);

/* As bytes, written to the (diverted) output; and from all that are left: false if they are of
 * another version, and then there are none. */
void stream_incidents_write(const stream_incidents *all);
bool stream_incidents_read(stream_incidents *all, bytes_left *from);
void stream_incidents_free(stream_incidents *all);

#endif
