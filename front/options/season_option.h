/* --season: what the command line says about the period of a stream. */
#ifndef OIF_FRONT_SEASON_OPTION_H
#define OIF_FRONT_SEASON_OPTION_H

#include "options.h"

/* For tables of options: "96", "1d", "auto", "off". */
const char *season_set(run_settings *settings, const char *value);

/* Whether what was said goes together. */
exit_code season_check(const run_settings *settings);

#endif
