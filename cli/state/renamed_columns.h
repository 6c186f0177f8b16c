/* Columns of a state that have other names now: --rename OLD=NEW. */
#ifndef OIF_CLI_RENAMED_COLUMNS_H
#define OIF_CLI_RENAMED_COLUMNS_H

#include "front/options/options.h"

/* Gives columns of a pipeline, also those of its key and time, the names that the settings have for
 * them. One that has its new name already is left as it is, so the option may stay in a script.
 * Prints what is wrong unless it returns EXIT_OK; then nothing has changed. */
exit_code rename_columns(oif_pipeline *pipeline, const cli_settings *settings);

#endif
