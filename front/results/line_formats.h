/* Rows as lines of pairs, for log collectors; what is missing is left out:
 *
 *     host=web-1 load=0.5 note="two words" score=0.71 anomaly=true
 */
#ifndef OIF_FRONT_LINE_FORMATS_H
#define OIF_FRONT_LINE_FORMATS_H

#include "result_fields.h"
#include "row_cells.h"

/* The line of a row. False once stdout is closed or has failed. */
bool logfmt_write(const row_cells *cells, const oif_record *record, const row_verdict *verdict);

#endif
