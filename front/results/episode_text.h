/* An episode or a silence as a sentence, as it arrives in a mail, in a chat or at Alertmanager. */
#ifndef OIF_FRONT_EPISODE_TEXT_H
#define OIF_FRONT_EPISODE_TEXT_H

#include "result_fields.h"

typedef struct episode_facts {
    const char *reason;                 /* "bytes high 71%"; "" or NULL: unknown */
    double first_seconds, last_seconds; /* NaN: unknown, and rows are named by their number */
    uint64_t first_row, last_row, rows;
    double peak_severity;
    oif_grade grade;
    bool is_over;
} episode_facts;

/* "web-1: bytes high since 2026-11-15T19:05:01Z, 14 rows, severity 3 (critical)"; once it is over:
 * "from 2026-11-15T19:05:01Z to 2026-11-15T19:12:31Z". The key may be empty. */
enum { EPISODE_TEXT_BYTES = FIELD_TEXT_BYTES + 512 };
void episode_text(const episode_facts *episode, oif_text key, char text[EPISODE_TEXT_BYTES]);

/* "no row since 2026-11-15T19:05:01Z, more than 5 min". `seconds` is the longest allowed pause when
 * the silence begins, and its length when it ends. */
enum { SILENCE_TEXT_BYTES = 128 };
void silence_text(bool begins, double since, double seconds, char text[SILENCE_TEXT_BYTES]);

#endif
