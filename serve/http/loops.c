#include "loops.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef struct loop {
    struct MHD_Daemon *daemon;
    pthread_t thread;
    bool is_running;
    bool accepts; /* new connections */
    atomic_bool must_not_accept, is_ending;
    int ready; /* readable when a client has sent something, or can be sent more */
    int woken; /* readable when another thread has something for this one */
} loop;

struct loops {
    unsigned count;
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

static unsigned connections_of(struct MHD_Daemon *daemon)
{
    return MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)->num_connections;
}

/* By the loop's own thread: the daemon is not made for two at a time. */
static void stop_accepting(loop *one)
{
    const MHD_socket descriptor = MHD_quiesce_daemon(one->daemon);
    if (descriptor != MHD_INVALID_SOCKET) /* the daemon leaves it to the caller */
        close(descriptor);
    one->accepts = false;
}

static void *go_round(void *context)
{
    loop *one = context;
    struct pollfd watched[] = {{.fd = one->ready, .events = POLLIN},
                               {.fd = one->woken, .events = POLLIN}};
    while (!atomic_load(&one->is_ending)) {
        eventfd_t times;
        if (poll(watched, 2, patience(one->daemon)) > 0 && watched[1].revents != 0)
            eventfd_read(one->woken, &times);
        if (one->accepts && atomic_load(&one->must_not_accept))
            stop_accepting(one);
        const unsigned before = connections_of(one->daemon);
        MHD_run(one->daemon);
        if (connections_of(one->daemon) < before) /* there may be room for others again */
            MHD_run(one->daemon);
    }
    return NULL;
}

static void wake(loop *one)
{
    eventfd_write(one->woken, 1); /* fails only if it has been woken 2^64 times */
}

loops *loops_new(unsigned count)
{
    loops *all = calloc(1, sizeof *all + count * sizeof *all->each);
    for (unsigned i = 0; all && i < count; i++) {
        all->each[i].woken = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (all->each[i].woken < 0) {
            loops_close(all);
            return NULL;
        }
        all->count++;
    }
    return all;
}

static bool start_loop(loop *one)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(one->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info)
        return false;
    one->ready = info->epoll_fd;
    one->accepts = true;
    one->is_running = pthread_create(&one->thread, NULL, go_round, one) == 0;
    return one->is_running;
}

/* All daemons exist before the first thread runs: loops_resume looks through them. */
bool loops_start(loops *all, struct MHD_Daemon *(*make)(void *context), void *context)
{
    for (unsigned i = 0; i < all->count; i++)
        if (!(all->each[i].daemon = make(context)))
            return false;
    for (unsigned i = 0; i < all->count; i++)
        if (!start_loop(&all->each[i]))
            return false;
    return true;
}

/* The connection may be gone as soon as it is resumed, so its owner is looked for before. */
void loops_resume(loops *all, struct MHD_Connection *wire)
{
    const struct MHD_Daemon *owner =
        MHD_get_connection_info(wire, MHD_CONNECTION_INFO_DAEMON)->daemon;
    MHD_resume_connection(wire);
    for (unsigned i = 0; i < all->count; i++)
        if (all->each[i].daemon == owner)
            wake(&all->each[i]);
}

void loops_accept_no_more(loops *all)
{
    for (unsigned i = 0; i < all->count; i++) {
        atomic_store(&all->each[i].must_not_accept, true);
        wake(&all->each[i]);
    }
}

void loops_end(loops *all)
{
    for (unsigned i = 0; i < all->count; i++) {
        atomic_store(&all->each[i].is_ending, true);
        wake(&all->each[i]);
    }
    for (unsigned i = 0; i < all->count; i++) {
        if (all->each[i].is_running)
            pthread_join(all->each[i].thread, NULL);
        all->each[i].is_running = false;
    }
}

void loops_close(loops *all)
{
    if (!all)
        return;
    loops_end(all);
    for (unsigned i = 0; i < all->count; i++) {
        if (all->each[i].daemon)
            MHD_stop_daemon(all->each[i].daemon);
        close(all->each[i].woken);
    }
    free(all);
}
