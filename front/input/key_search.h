/* Finds the column that keeps the streams of one file apart, such as hosts, sensors or shops.
 *
 *     time   host  load     The times repeat or go back, but those of each host only advance:
 *     10:00  a     1        `host` is a key. In a file that is sorted by host, the times start
 *     10:00  b     7        over with each host.
 *     10:01  a     2
 *
 * Only the first rows are searched, and only columns with few different values. */
#ifndef OIF_FRONT_KEY_SEARCH_H
#define OIF_FRONT_KEY_SEARCH_H

#include "oif_rows.h"

enum {
    KEY_SEARCH_COLUMNS = 64, /* later columns are not searched */
    KEY_SEARCH_PARTS = 2     /* columns of a key that is found, at most: host and disk */
};

/* A value as a text and as a time, which is NaN if it is none. A text such as 01/02/2026 is read
 * in both orders of day and month. */
typedef struct key_search_cell {
    uint64_t text; /* its hash; 0: missing */
    double times[2];
} key_search_cell;

/* All zero: nothing is searched. */
typedef struct key_search {
    key_search_cell *cells; /* [rows][columns] */
    size_t columns, rows;
} key_search;

/* Makes room for the rows. Without memory nothing is searched. */
void key_search_start(key_search *search, size_t columns, size_t rows);
void key_search_free(key_search *search);

/* Adds a value of the row that is not ended yet. */
void key_search_add(key_search *search, size_t column, oif_text text, const double times[2]);
void key_search_end_row(key_search *search);

/* The columns that together keep the times of a column apart, read in one of the two orders, out of
 * those that may be a key. Returns how many; 0 if there are none. */
size_t key_search_find(const key_search *search, const bool may_be_key[], size_t time, size_t order,
                       size_t found[KEY_SEARCH_PARTS]);

#endif
