#include "connections.h"

#include "../cli/clock.h"
#include "background.h"
#include "log.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

/* A client that moves fewer bytes per second than this is not a client. */
enum { SLOWEST_BYTES_PER_SECOND = 1 << 15 };

struct connection {
    connections *all;
    connection *before, *after;
    int descriptor;
    bool is_cut;
    _Atomic int phase;
    _Atomic double deadline;
};

struct connections {
    pthread_mutex_t lock; /* of the list, not of the deadlines in it */
    pthread_cond_t wake;
    pthread_t thread;
    connection *first;
    double timeout_seconds;
    bool is_closing;
};

static const char *const doings[] = {
    [PHASE_IDLE] = "sends no request",          [PHASE_HEADERS] = "sends headers too slowly",
    [PHASE_BODY] = "sends its body too slowly", [PHASE_WORK] = "waits",
    [PHASE_ANSWER] = "reads too slowly",        [PHASE_EVENTS] = "reads events",
};

enum { PHASES = sizeof doings / sizeof *doings };

/* Counts those that were cut off in each phase. */
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
    pthread_mutex_lock(&all->lock);
    while (!all->is_closing) {
        double pause = all->timeout_seconds < 4 ? all->timeout_seconds / 4 : 1;
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        long nanoseconds = until.tv_nsec + (long)(pause * 1e9);
        until.tv_sec += nanoseconds / 1000000000;
        until.tv_nsec = nanoseconds % 1000000000;
        unsigned counts[PHASES] = {0};
        pthread_cond_timedwait(&all->wake, &all->lock, &until);
        cut_off_late(all, counts);
        pthread_mutex_unlock(&all->lock);
        log_cut_off(counts);
        pthread_mutex_lock(&all->lock);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

connections *connections_open(double timeout_seconds)
{
    connections *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->timeout_seconds = timeout_seconds;
    pthread_mutex_init(&all->lock, NULL);
    background_make_condition(&all->wake);
    if (pthread_create(&all->thread, NULL, watch, all) == 0)
        return all;
    free(all);
    return NULL;
}

void connections_close(connections *all)
{
    if (!all)
        return;
    pthread_mutex_lock(&all->lock);
    all->is_closing = true;
    pthread_cond_signal(&all->wake);
    pthread_mutex_unlock(&all->lock);
    pthread_join(all->thread, NULL);
    pthread_cond_destroy(&all->wake);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

connection *connection_new(connections *all, int descriptor)
{
    connection *one = calloc(1, sizeof *one);
    if (!one)
        return NULL;
    one->all = all;
    one->descriptor = descriptor;
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
    if (one->before)
        one->before->after = one->after;
    else
        all->first = one->after;
    if (one->after)
        one->after->before = one->before;
    pthread_mutex_unlock(&all->lock);
    free(one);
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
