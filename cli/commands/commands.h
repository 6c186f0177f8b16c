/* The table of commands, which main.c holds, and the commands that belong to no family. */
#ifndef OIF_CLI_COMMANDS_H
#define OIF_CLI_COMMANDS_H

#include "front/options/options.h"

/* The commands that users see, from 0 on; NULL past the last. And examples of how to use them,
 * whole lines. */
const command_entry *command_at(size_t index);
extern const char program_examples[];

/* "state-inspect": the name of a command in pages and completions, which have one word for it. */
enum { COMMAND_NAME_BYTES = 32 };
const char *command_page(const command_entry *command, char name[COMMAND_NAME_BYTES]);

extern const command_entry demo_command, size_command;
exit_code demo_run(const run_settings *settings);
exit_code demo_show(const run_settings *settings); /* without a kind of stream */
exit_code size_run(const run_settings *settings);

/* Executes the server, a separate program, with the arguments after the command's name: its
 * libraries would make the start of every other command ten times slower. Returns only on
 * failure. */
exit_code server_program_run(const run_settings *settings);

/* For those who install oif. */
extern const command_entry completions_command, manual_command;
exit_code completions_run(const run_settings *settings);
exit_code manual_run(const run_settings *settings);

#endif
