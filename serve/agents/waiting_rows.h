/* Rows that wait for samples of later requests: Prometheus sends the series of one scrape in
 * several requests, at times in parallel.
 *
 *     {"time":10,"job":"node","load":1}     first request
 *     {"time":10,"job":"node","up":1}       second request
 *     {"time":10,"job":"node","load":1,"up":1}
 *
 * The rows are those that samples.h writes: the time, then the key, then numbers. A row joins the
 * one of its key whose time is nearest, if the times are close and no column is in both. The caller
 * decides how long a row waits. How much may wait is bounded. */
#ifndef OIF_SERVE_WAITING_ROWS_H
#define OIF_SERVE_WAITING_ROWS_H

#include "oif_rows.h"

#include <stdbool.h>

enum { WAITING_ROWS_MAX = 10000, WAITING_BYTES_MAX = 8 << 20 };

typedef struct waiting_rows waiting_rows;

/* NULL: out of memory. */
waiting_rows *waiting_rows_new(void);
void waiting_rows_free(waiting_rows *all);

/* Adds rows of NDJSON that have arrived now. False, with nothing added, if they are not rows that
 * samples.h has written; and, with some of them added, if out of memory. */
bool waiting_rows_add(waiting_rows *all, oif_text rows, double span_seconds, double now);

size_t waiting_rows_count(const waiting_rows *all);

/* Whether a row has arrived by then, or too much is waiting. */
bool waiting_rows_are_due(const waiting_rows *all, double arrived_by);

/* Takes the rows that have arrived by then, all if too much is waiting, as NDJSON, in the order of
 * time. The caller frees it. NULL: there are none, or out of memory: then they wait on. */
char *waiting_rows_take(waiting_rows *all, double arrived_by, size_t *bytes);

#endif
