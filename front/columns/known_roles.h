/* The key and the time that a state was made with. Another key would silently start all models
 * over, so it is refused. Without --key and --time those of the state are used. */
#ifndef OIF_FRONT_KNOWN_ROLES_H
#define OIF_FRONT_KNOWN_ROLES_H

#include "input.h"

/* Completes --key and --time of the settings from the known pipeline, which may be NULL. Prints
 * what contradicts it unless it returns EXIT_OK. */
exit_code known_roles_take(run_settings *settings, const oif_pipeline *known,
                           const run_input *input);

/* Stores them in a new pipeline. */
exit_code known_roles_remember(const run_settings *settings, oif_pipeline *pipeline);

#endif
