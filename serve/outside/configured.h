/* The command line of `oif serve` and its --config FILE combined; the command line has priority. */
#ifndef OIF_SERVE_CONFIGURED_H
#define OIF_SERVE_CONFIGURED_H

#include "config.h"
#include "front/options/options.h"

typedef struct configured {
    serve_settings asked;
    server_config config;
    cli_settings from_file; /* what `asked` may point into */
} configured;

/* Complains unless it returns EXIT_OK. Close it in any case. */
exit_code configured_open(const serve_settings *given, configured *both);
void configured_close(configured *both);

#endif
