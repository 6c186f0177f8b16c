/* The program oif-serve: `oif serve` checks its options, prints its help and then becomes this
 * program, as "oif serve OPTION...". */
#include "front/options/command.h"
#include "front/text/signals.h"
#include "service.h"

#include <string.h>
#include <sys/stat.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Bodies of a stream are processed by several threads. With a heap for each of them, a model that
 * grows leaves its heap while others allocate elsewhere: 10,000 keys with 150 rows took 1.4 times
 * the bytes of their models. One heap for all costs 3% of the time of four streams at once. */
static void share_heap(void)
{
#ifdef __GLIBC__
    mallopt(M_ARENA_MAX, 1);
#endif
}

static exit_code run(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "serve") == 0)
        return command_run(&serve_command, service_run, argv + 2);
    return complain(EXIT_USAGE, "this is the server of oif; start it with: oif serve");
}

int main(int argc, char **argv)
{
    umask(S_IRWXG | S_IRWXO); /* rows are for the owner of the process alone */
    share_heap();
    output_start();
    exit_code code = output_finish(run(argc, argv));
    signals_pass_on();
    return (int)code;
}
