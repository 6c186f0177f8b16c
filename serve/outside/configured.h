/* The command line of `oif serve` and its --config FILE combined; the command line has priority. */
#ifndef OIF_SERVE_CONFIGURED_H
#define OIF_SERVE_CONFIGURED_H

#include "config.h"
#include "front/options/options.h"

typedef struct configured {
    run_settings settings;
    server_config config;
    json_t *texts; /* of numbers and lists of the file; the settings may point into them */
} configured;

/* Complains unless it returns EXIT_OK. Close it in any case. */
exit_code configured_open(const run_settings *given, configured *both);
void configured_close(configured *both);

#endif
