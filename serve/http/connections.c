#include "connections.h"

#include "front/text/clock.h"
#include "serve/base/background.h"
#include "serve/base/log.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

/* A client that transfers fewer bytes per second is cut off. */
enum { SLOWEST_BYTES_PER_SECOND = 1 << 15 };

struct connection {
    connections *all;
    connection *before, *after;
    int descriptor;
    char address[ADDRESS_BYTES];
    bool is_cut;
    _Atomic int phase;
    _Atomic double deadline;
};

struct connections {
    pthread_mutex_t lock; /* of the list, not of its deadlines */
    background watcher;
    connection *first;
    double timeout_seconds;
};

static const char *const doings[] = {
    [PHASE_IDLE] = "sends no request",          [PHASE_HEADERS] = "sends headers too slowly",
    [PHASE_BODY] = "sends its body too slowly", [PHASE_WORK] = "waits",
    [PHASE_ANSWER] = "reads too slowly",        [PHASE_EVENTS] = "reads events",
};

enum { PHASES = sizeof doings / sizeof *doings };

/* Counts the connections cut off in each phase. */
static void cut_off_late(connections *all, unsigned counts[PHASES])
{
    double now = clock_seconds();
    for (connection *one = all->first; one; one = one->after) {
        if (one->is_cut || atomic_load(&one->deadline) > now)
            continue;
        one->is_cut = true;
        counts[atomic_load(&one->phase)]++;
        shutdown(one->descriptor, SHUT_RDWR);
    }
}

/* An idle connection that ends is not a problem. */
static void log_cut_off(const unsigned counts[PHASES])
{
    for (size_t i = PHASE_IDLE + 1; i < PHASES; i++) {
        char number[16];
        snprintf(number, sizeof number, "%u", counts[i]);
        if (counts[i] > 0)
            log_line("warn", "cut_off", "clients", number, "client", doings[i], (char *)NULL);
    }
}

static void *watch(void *context)
{
    connections *all = context;
    const double timeout_seconds = all->timeout_seconds;
    double pause_seconds = timeout_seconds < 4 ? timeout_seconds / 4 : 1;
    while (background_wait(&all->watcher, pause_seconds)) {
        unsigned counts[PHASES] = {0};
        pthread_mutex_lock(&all->lock);
        cut_off_late(all, counts);
        pthread_mutex_unlock(&all->lock);
        log_cut_off(counts);
    }
    return NULL;
}

connections *connections_open(double timeout_seconds)
{
    connections *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->timeout_seconds = timeout_seconds;
    pthread_mutex_init(&all->lock, NULL);
    if (background_start(&all->watcher, watch, all) == 0)
        return all;
    pthread_mutex_destroy(&all->lock);
    free(all);
    return NULL;
}

void connections_close(connections *all)
{
    if (!all)
        return;
    background_stop(&all->watcher);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

connection *connection_new(connections *all, int descriptor, const struct sockaddr *from)
{
    connection *one = calloc(1, sizeof *one);
    if (!one)
        return NULL;
    one->all = all;
    one->descriptor = descriptor;
    address_write(from, one->address);
    connection_enter(one, PHASE_IDLE, 0);
    pthread_mutex_lock(&all->lock);
    one->after = all->first;
    if (all->first)
        all->first->before = one;
    all->first = one;
    pthread_mutex_unlock(&all->lock);
    return one;
}

void connection_free(connection *one)
{
    if (!one)
        return;
    connections *all = one->all;
    pthread_mutex_lock(&all->lock);
    *(one->before ? &one->before->after : &all->first) = one->after;
    if (one->after)
        one->after->before = one->before;
    pthread_mutex_unlock(&all->lock);
    free(one);
}

const char *connection_address(const connection *one)
{
    return one ? one->address : "";
}

void connection_enter(connection *one, connection_phase phase, size_t bytes)
{
    if (!one)
        return;
    bool is_ours = phase == PHASE_WORK || phase == PHASE_EVENTS;
    double seconds = one->all->timeout_seconds + (double)bytes / SLOWEST_BYTES_PER_SECOND;
    atomic_store(&one->phase, (int)phase);
    atomic_store(&one->deadline, is_ours ? INFINITY : clock_seconds() + seconds);
}
