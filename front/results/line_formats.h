/* Rows as lines of pairs, for log collectors and databases of time series:
 *
 *     logfmt   host=web-1 load=0.5 note="two words" score=0.71 anomaly=true
 *     influx   oif,host=web-1 load=0.5,note="two words",score=0.71,anomaly=true 1794769501000000000
 *
 * What is missing is left out. In Influx's line protocol the key is a tag, --time the time. What
 * is learned is a number there and all other columns are strings: a field must not change its
 * type from row to row. */
#ifndef OIF_FRONT_LINE_FORMATS_H
#define OIF_FRONT_LINE_FORMATS_H

#include "result_fields.h"
#include "row_cells.h"

/* The line of a row. False once stdout is closed or has failed. */
bool logfmt_write(const row_cells *cells, const oif_record *record, const row_verdict *verdict);

/* The same; without any field there is no line at all. */
bool influx_write(const row_cells *cells, const oif_record *record, const row_verdict *verdict);

#endif
