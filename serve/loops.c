#include "loops.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct loop {
    struct MHD_Daemon *daemon;
    pthread_t thread;
    bool is_running;
    int ready; /* readable when the daemon has something to do */
    int end;   /* readable when the thread must end */
} loop;

struct loops {
    unsigned count;
    int end[2]; /* a pipe: closing [1] ends the threads */
    loop each[];
};

/* Milliseconds until the daemon has to look at its connections by itself. */
static int patience(struct MHD_Daemon *daemon)
{
    enum { LONGEST = 1000 };
    MHD_UNSIGNED_LONG_LONG milliseconds;
    if (MHD_get_timeout(daemon, &milliseconds) != MHD_YES || milliseconds > LONGEST)
        return LONGEST;
    return (int)milliseconds;
}

static void *go_round(void *context)
{
    loop *one = context;
    struct pollfd watched[] = {{.fd = one->ready, .events = POLLIN},
                               {.fd = one->end, .events = POLLIN}};
    while (watched[1].revents == 0) {
        poll(watched, 2, patience(one->daemon));
        MHD_run(one->daemon);
    }
    return NULL;
}

static bool start_loop(loop *one, struct MHD_Daemon *daemon, int end)
{
    one->daemon = daemon;
    one->end = end;
    const union MHD_DaemonInfo *info =
        daemon ? MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    if (!info)
        return false;
    one->ready = info->epoll_fd;
    one->is_running = pthread_create(&one->thread, NULL, go_round, one) == 0;
    return one->is_running;
}

loops *loops_open(unsigned count, struct MHD_Daemon *(*make)(void *context), void *context)
{
    loops *all = calloc(1, sizeof *all + count * sizeof *all->each);
    if (!all)
        return NULL;
    if (pipe(all->end) != 0) {
        free(all);
        return NULL;
    }
    while (all->count < count) {
        if (!start_loop(&all->each[all->count++], make(context), all->end[0])) {
            loops_close(all);
            return NULL;
        }
    }
    return all;
}

void loops_accept_no_more(loops *all)
{
    for (unsigned i = 0; i < all->count; i++)
        MHD_quiesce_daemon(all->each[i].daemon);
}

void loops_close(loops *all)
{
    if (!all)
        return;
    close(all->end[1]);
    for (unsigned i = 0; i < all->count; i++) {
        loop *one = &all->each[i];
        if (one->is_running)
            pthread_join(one->thread, NULL);
        if (one->daemon)
            MHD_stop_daemon(one->daemon);
    }
    close(all->end[0]);
    free(all);
}
