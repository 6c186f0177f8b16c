#include "signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t requested; /* to end: the signal's number */
static volatile sig_atomic_t save_requested, reload_requested;
static int pipe_ends[2] = {-1, -1};

static void wake(void)
{
    int reason = errno;
    (void)!write(pipe_ends[1], "", 1);
    errno = reason;
}

static void request(int number)
{
    requested = number;
    wake();
}

static void request_save(int number)
{
    (void)number;
    save_requested = 1;
    wake();
}

static void request_reload(int number)
{
    (void)number;
    reload_requested = 1;
    wake();
}

static void notice(int number)
{
    (void)number;
    wake();
}

static void catch_signal(int number, void (*handler)(int), int flags)
{
    /* Output that a slow reader holds up continues; waits for input are never restarted. */
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | flags}, before;
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void signals_catch(void)
{
    if (pipe(pipe_ends) != 0)
        return; /* without descriptors left nothing else works either, and that is reported */
    fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
    fcntl(pipe_ends[1], F_SETFL, O_NONBLOCK);
    catch_signal(SIGTERM, request, (int)SA_RESETHAND);
    catch_signal(SIGINT, request, (int)SA_RESETHAND);
    catch_signal(SIGHUP, request, (int)SA_RESETHAND);
    catch_signal(SIGUSR1, request_save, 0);
}

void signals_catch_resize(void)
{
    catch_signal(SIGWINCH, notice, 0);
}

void signals_catch_reload(void)
{
    catch_signal(SIGHUP, request_reload, 0);
}

bool signals_stop_requested(void)
{
    return requested != 0;
}

bool signals_hangup_requested(void)
{
    return requested == SIGHUP;
}

static bool take(volatile sig_atomic_t *request_flag)
{
    if (!*request_flag)
        return false;
    *request_flag = 0;
    return true;
}

bool signals_take_save_request(void)
{
    return take(&save_requested);
}

bool signals_take_reload_request(void)
{
    return take(&reload_requested);
}

void signals_heed(void)
{
    char bytes[64];
    while (requested == 0 && read(pipe_ends[0], bytes, sizeof bytes) > 0)
        ;
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
