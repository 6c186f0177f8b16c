/* oif score -v: what is learned, from which columns and seasons, and when the first alert may
 * come. */
#ifndef OIF_CLI_VERBOSE_H
#define OIF_CLI_VERBOSE_H

#include "front/columns/columns.h"

void verbose_start(const run_settings *settings, const input_columns *columns,
                   const oif_pipeline *pipeline);

/* At the end: which seasons the last key has, and how strong they are. */
void verbose_end(const input_columns *columns, const oif_pipeline *pipeline);

#endif
