/* Columns that are made from others: --rate, --category. */
#ifndef OIF_FRONT_DERIVE_H
#define OIF_FRONT_DERIVE_H

#include "columns.h"

/* Whether the settings ask for any. */
bool derive_is_asked(const run_settings *settings);

/* Has a new pipeline derive what the settings ask for. Prints what is wrong unless it returns
 * EXIT_OK. */
exit_code derive_columns(oif_pipeline *pipeline, const run_settings *settings,
                         const input_columns *columns);

/* Whether a pipeline from a state file derives what the settings ask for; they need not ask.
 * Prints the first contradiction unless it returns EXIT_OK. */
exit_code derive_compare(const oif_pipeline *held, const run_settings *settings,
                         const input_columns *columns);

/* "load", "rate(rx_bytes)": the name of a column that is learned, to be freed; NULL: no memory. */
char *derive_name(const oif_pipeline *pipeline, const input_columns *columns,
                  size_t learned_column);
char *derive_text(oif_derive kind, const char *name);

#endif
