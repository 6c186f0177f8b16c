/* The whole service: streams, HTTP, and background threads. */
#ifndef OIF_SERVE_SERVICE_H
#define OIF_SERVE_SERVICE_H

#include "front/options/options.h"

/* Serves until a signal stops it. */
exit_code service_run(const cli_settings *settings);

#endif
