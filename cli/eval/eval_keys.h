/* Numbers for keys: 0 for the first that is seen, 1 for the next. */
#ifndef OIF_CLI_EVAL_KEYS_H
#define OIF_CLI_EVAL_KEYS_H

#include "front/text/byte_table.h"
#include "oif_rows.h"

/* All zero has none. */
typedef struct eval_keys {
    byte_table table;
    const byte_item **by_number;
    size_t capacity; /* of by_number */
} eval_keys;

/* The number of a key, which is added if it is new. Returns false when memory is short. */
bool eval_keys_number(eval_keys *keys, oif_text key, uint32_t *number);
oif_text eval_keys_text(const eval_keys *keys, uint32_t number);
void eval_keys_free(eval_keys *keys);

#endif
