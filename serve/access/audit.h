/* The audit log: a line of JSON per change in FOLDER/audit.log:
 *
 *     {"time":"2026-11-18T10:00:00Z","who":"ana","role":"admin","from":"192.0.2.7",
 *      "method":"DELETE","path":"/api/v1/streams/web","status":204}
 *
 * A file of 8 MB is renamed to audit.log.1, and so on up to audit.log.4, so the log has at most 40
 * MB. Rows are not in it, and tokens neither. Any thread may make any call. */
#ifndef OIF_SERVE_AUDIT_H
#define OIF_SERVE_AUDIT_H

#include "tokens.h"

#include <stdint.h>

typedef struct audit audit;

/* Without a folder, changes are lines of the log on stderr. NULL: out of memory. */
audit *audit_open(const char *folder);
void audit_close(audit *log); /* accepts NULL */

typedef struct audit_entry {
    const token *who; /* NULL: no token was needed */
    const char *from;
    const char *method, *path; /* or what else has happened: "reload", "" */
    int status;                /* 0: none */
    json_t *details;           /* what was asked for; NULL: nothing */
} audit_entry;

/* On disk when it returns. Reports the first failure in a row. */
void audit_add(audit *log, const audit_entry *entry);

/* {"entries": [...]}: the latest `limit`, newest first, about streams that match the patterns;
 * NULL: all. Written to the (diverted) output. */
void audit_write(audit *log, const char *patterns, size_t limit);

/* How many entries could not be written. */
uint64_t audit_failures(audit *log);

#endif
