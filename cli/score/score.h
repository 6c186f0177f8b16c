/* oif score: score_options.c has its options and help, score.c what it does. */
#ifndef OIF_CLI_SCORE_H
#define OIF_CLI_SCORE_H

#include "front/options/options.h"

exit_code score_run(const run_settings *asked);

#endif
