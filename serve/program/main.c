/* The program oif-serve. `oif serve` checks its options, prints its help and then becomes this
 * program, as "oif serve OPTION...". */
#include "front/options/command.h"
#include "front/text/signals.h"
#include "service.h"

#include <string.h>

int main(int argc, char **argv)
{
    output_start();
    exit_code code = argc > 1 && strcmp(argv[1], "serve") == 0
                         ? command_run(&serve_command, service_run, argv + 2)
                         : complain(EXIT_USAGE, "this is the server of oif: start it by oif serve");
    code = output_finish(code);
    signals_pass_on();
    return (int)code;
}
