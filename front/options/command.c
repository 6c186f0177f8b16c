#include "command.h"

#include "help.h"

exit_code command_run(const cli_command *command, exit_code (*run)(const cli_settings *settings),
                      char **arguments)
{
    cli_settings settings;
    help_kind help;
    exit_code code = command_parse(command, arguments, &settings, &help);
    if (code == EXIT_OK && help != HELP_NOT_ASKED)
        help_print(command, settings.params.table, help);
    else if (code == EXIT_OK)
        code = run(&settings);
    settings_close(&settings);
    return code;
}
