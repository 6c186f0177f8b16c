/* What a command prints with --help, and with --help-all. Both come from the tables that the
 * command line is read with. */
#ifndef OIF_FRONT_HELP_H
#define OIF_FRONT_HELP_H

#include "options.h"

typedef enum help_kind { HELP_NOT_ASKED, HELP_SHORT, HELP_ALL } help_kind;

/* With the parameters of this detector. */
void help_print(const command_entry *command, const oif_param_table *detector, help_kind kind);

#endif
