/* The service: streams, HTTP and background threads, until a signal ends it. SIGHUP makes it read
 * its tokens and certificate again. */
#ifndef OIF_SERVE_SERVICE_H
#define OIF_SERVE_SERVICE_H

#include "front/options/options.h"

exit_code service_run(const run_settings *given);

#endif
