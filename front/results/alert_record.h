/* The record of an episode as JSON, for the command of --on-alert:
 *
 *     {"episode":"begins","id":3,"key":"web-1","start":"2026-11-15T19:05:01Z","end":null,
 *      "rows":1,"grade":"critical","peak":5.2,"reason":"bytes high 71%; port low 20%",
 *      "text":"web-1: bytes high 71%; port low 20% since 2026-11-15T19:05:01Z, 1 row, ...",
 *      "row":{"host":"web-1","bytes":981}}
 *
 * Without times `start` and `end` are numbers of rows. A key that falls silent:
 *
 *     {"silence":"begins","key":"web-1","start":"2026-11-15T19:05:01Z","end":null,"seconds":300,
 *      "reason":"silence","text":"web-1: silence begins: no row since ..."} */
#ifndef OIF_FRONT_ALERT_RECORD_H
#define OIF_FRONT_ALERT_RECORD_H

#include "row_writer.h"

/* To be freed; NULL if out of memory. */
char *alert_record_make(const row_writer *writer, const oif_record *record,
                        const row_verdict *verdict, oif_text key, size_t *bytes);

/* `seconds` is the longest allowed pause when the silence begins, and its length when it ends. */
char *alert_record_of_silence(bool begins, oif_text key, double since, double seconds,
                              const char *sentence, size_t *bytes);

/* A number that the beginning and the end of an episode share, and almost no other episode has. */
uint64_t alert_record_series(const row_verdict *verdict, oif_text key);
uint64_t alert_record_silence_series(oif_text key); /* the same for silences */

#endif
