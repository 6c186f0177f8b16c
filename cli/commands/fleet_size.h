/* The memory and the state file of many keys, before there is a row.
 *
 * A few sample keys learn random rows with the same settings, and the sizes of their models are
 * multiplied. Which models are whole is decided as in a run (src/pipeline/keys/models.h):
 *
 *     first     the first models are whole, up to 64 MB of them or a quarter of the limit
 *     grown     a packed model becomes whole when it takes a third of a whole one, as long as all
 *               models take less than three quarters of the limit
 *     full      at the limit, whole models are packed again
 */
#ifndef OIF_CLI_FLEET_SIZE_H
#define OIF_CLI_FLEET_SIZE_H

#include "front/options/options.h"

typedef struct fleet_size {
    double keys, whole_keys;
    double whole_bytes, packed_bytes; /* of a model */
    double table_bytes, shared_bytes; /* of the keys beside their models, and of what all share */
    double memory_bytes;              /* of everything, with a model for each key */
    double limit_bytes, fitting_keys; /* of a run with these settings; INFINITY: no limit */
    bool is_limit_usual;              /* half of the memory of this machine */
    double file_bytes;                /* of the state file */
} fleet_size;

/* The size of `keys` keys of that many columns after `rows` rows each. Prints what is wrong unless
 * it returns EXIT_OK. */
exit_code fleet_size_estimate(const run_settings *settings, uint64_t keys, size_t columns,
                              uint64_t rows, fleet_size *size);

#endif
