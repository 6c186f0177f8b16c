/* The columns that make a key: --key host, or --key host,disk. Several are joined with '/', and a
 * '/' or '\' in a value has a '\' before it: so a/b and c is another key than a and b/c. */
#ifndef OIF_FRONT_KEY_COLUMNS_H
#define OIF_FRONT_KEY_COLUMNS_H

#include "front/text/output.h"
#include "oif_rows.h"

#include <stdbool.h>

enum { KEY_COLUMNS_MAX = 8 };

typedef struct key_columns {
    size_t count;
    char *names[KEY_COLUMNS_MAX];
    size_t columns[KEY_COLUMNS_MAX]; /* the reader's */
    size_t texts[KEY_COLUMNS_MAX];   /* which of a record's texts they are */
    char *joined;                    /* of several: the key of a record */
} key_columns;

/* Splits a list of names such as host,disk or "a,b",c; `list` may be NULL. Prints what is wrong
 * unless it returns EXIT_OK; to be closed in any case. */
exit_code key_columns_split(key_columns *key, const char *list);
void key_columns_close(key_columns *key);

/* The key of a record; of several columns it is valid until the next call. A key that is longer
 * than allowed has OIF_KEY_MAX_BYTES + 1 bytes or more. */
oif_text key_columns_text(const key_columns *key, const oif_record *record);

#endif
