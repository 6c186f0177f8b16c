/* Columns that are made from others: --diff, --rate, --log, --category, --keep-original. */
#ifndef OIF_FRONT_DERIVE_H
#define OIF_FRONT_DERIVE_H

#include "columns.h"

/* Whether the settings ask for any. */
bool derive_is_asked(const cli_settings *settings);

/* Has a new pipeline derive what the settings ask for. Prints what is wrong unless it returns
 * EXIT_OK. */
exit_code derive_columns(oif_pipeline *pipeline, const cli_settings *settings,
                         const cli_columns *columns);

/* What the settings derive from columns, those from number `first` on. */
typedef struct derived_list {
    oif_derive_column *list; /* to be freed */
    size_t count, capacity;
    size_t first;
    bool keeps; /* the columns themselves, too */
} derived_list;
exit_code derive_list_new(derived_list *list, const cli_settings *settings,
                          const cli_columns *columns, size_t first);

/* Whether a pipeline from a state file derives what the settings ask for; they need not ask.
 * Prints the first contradiction unless it returns EXIT_OK. */
exit_code derive_compare(const oif_pipeline *held, const cli_settings *settings,
                         const cli_columns *columns);

/* "load", "rate(rx_bytes)": the name of a column that is learned, to be freed; NULL: no memory. */
char *derive_name(const oif_pipeline *pipeline, const cli_columns *columns, size_t learned_column);
char *derive_text(oif_derive kind, const char *name);

#endif
