/* Numbers for keys: 0 for the first that is seen, 1 for the next. */
#ifndef OIF_CLI_EVAL_KEYS_H
#define OIF_CLI_EVAL_KEYS_H

#include "oif_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero has none. */
typedef struct eval_keys {
    char *bytes; /* of all keys, one after the other */
    size_t byte_count, byte_capacity;
    size_t *ends; /* where each key ends in them */
    size_t count, capacity;
    uint32_t *slots; /* 1 + the number of a key, found by its hash; 0: empty */
    size_t slot_count;
} eval_keys;

/* The number of a key, which is added if it is new. Returns false when memory is short. */
bool eval_keys_number(eval_keys *keys, oif_text key, uint32_t *number);
oif_text eval_keys_text(const eval_keys *keys, uint32_t number);
void eval_keys_free(eval_keys *keys);

#endif
