/* The service as a whole: streams, HTTP, and what runs beside them. */
#ifndef OIF_SERVE_SERVICE_H
#define OIF_SERVE_SERVICE_H

#include "../cli/options.h"

/* Serves until a signal asks it to end. */
exit_code service_run(const cli_settings *settings);

#endif
