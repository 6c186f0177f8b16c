/* oif token: makes, lists and removes the tokens of a file (serve/access/tokens.h). */
#ifndef OIF_SERVE_TOKEN_PROGRAM_H
#define OIF_SERVE_TOKEN_PROGRAM_H

#include "front/options/options.h"

exit_code token_program(const cli_settings *settings);

#endif
