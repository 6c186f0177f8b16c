#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t requested; /* the signal's number */
static int pipe_ends[2] = {-1, -1};

static void request(int number)
{
    int reason = errno;
    requested = number;
    (void)!write(pipe_ends[1], "", 1);
    errno = reason;
}

static void catch_signal(int number)
{
    /* Output that a slow reader holds up continues; waits for input are never restarted. */
    struct sigaction action = {.sa_handler = request, .sa_flags = SA_RESTART | (int)SA_RESETHAND},
                     before;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void signals_catch(void)
{
    if (pipe(pipe_ends) != 0)
        return; /* without descriptors left nothing else works either, and that is reported */
    fcntl(pipe_ends[1], F_SETFL, O_NONBLOCK);
    catch_signal(SIGTERM);
    catch_signal(SIGINT);
}

bool signals_stop_requested(void)
{
    return requested != 0;
}

int signals_descriptor(void)
{
    return pipe_ends[0];
}

void signals_pass_on(void)
{
    if (requested == SIGINT)
        raise(SIGINT); /* whose usual action SA_RESETHAND has brought back */
}
