/* Each run is a new round: workers wait until the round number changes and do their part; the last
 * one wakes the caller. All changes are made under one mutex. Waking a thread takes 10 to 100
 * microseconds, as long as a round of work. So a waiting thread first spins for about that long
 * before it sleeps: rounds in quick succession need no waking, and an idle pool sleeps. */
#include "base/pool.h"

#ifndef OIF_WITHOUT_THREADS /* else: no_pool.c */

#include "base/error.h"
#include "base/memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LOOKS = 1000 }; /* before sleeping, with pauses of 10 to 50 nanoseconds */

typedef struct worker {
    oif_pool *pool;
    pthread_t thread;
    unsigned part;
} worker;

struct oif_pool {
    pthread_mutex_t mutex;
    pthread_cond_t round_began, round_ended;
    _Atomic uint64_t round;
    _Atomic unsigned busy;
    unsigned parts;
    size_t bytes_a_part;
    unsigned char *memory; /* of all parts; NULL if they need none */
    bool in_use;
    atomic_bool ending;
    void (*task)(void *context, unsigned part);
    void *context;
    worker workers[OIF_POOL_MAX_PARTS];
};

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static void *work(void *argument)
{
    const worker *self = argument;
    oif_pool *pool = self->pool;
    uint64_t done = 0;
    while (true) {
        for (int look = 0; look < LOOKS && pool->round == done && !pool->ending; look++)
            pause_briefly();
        pthread_mutex_lock(&pool->mutex);
        while (pool->round == done && !pool->ending)
            pthread_cond_wait(&pool->round_began, &pool->mutex);
        done = pool->round;
        bool ending = pool->ending;
        pthread_mutex_unlock(&pool->mutex);
        if (ending)
            return NULL;
        pool->task(pool->context, self->part);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->round_ended);
        pthread_mutex_unlock(&pool->mutex);
    }
}

oif_pool *oif_pool_new(unsigned parts, size_t bytes_a_part)
{
    oif_pool *pool = oif_memory_new(sizeof *pool);
    if (!pool)
        return NULL;
    memset(pool, 0, sizeof *pool);
    pool->parts = 1;
    pool->bytes_a_part = oif_size_align(bytes_a_part);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->round_began, NULL);
    pthread_cond_init(&pool->round_ended, NULL);
    if (bytes_a_part > 0) {
        pool->memory = oif_memory_new(oif_size_multiply(parts, pool->bytes_a_part));
        if (!pool->memory) {
            oif_pool_free(pool);
            return NULL;
        }
    }
    while (pool->parts < parts) {
        worker *next = &pool->workers[pool->parts];
        *next = (worker){.pool = pool, .part = pool->parts};
        if (pthread_create(&next->thread, NULL, work, next) != 0) {
            oif_pool_free(pool);
            return NULL;
        }
        pool->parts++;
    }
    return pool;
}

void oif_pool_free(oif_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->mutex);
    pool->ending = true;
    pthread_cond_broadcast(&pool->round_began);
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned part = 1; part < pool->parts; part++)
        pthread_join(pool->workers[part].thread, NULL);
    pthread_cond_destroy(&pool->round_ended);
    pthread_cond_destroy(&pool->round_began);
    pthread_mutex_destroy(&pool->mutex);
    oif_memory_free(pool->memory);
    oif_memory_free(pool);
}

oif_status oif_pool_set(oif_pool **pool, unsigned parts, size_t bytes_a_part, oif_error *error)
{
    if (parts < 1 || parts > OIF_POOL_MAX_PARTS)
        return oif_fail(error, OIF_EPARAM, "threads must be a whole number from 1 to %d",
                        OIF_POOL_MAX_PARTS);
    oif_pool *made = parts > 1 ? oif_pool_new(parts, bytes_a_part) : NULL;
    if (parts > 1 && !made)
        return oif_fail(error, OIF_EMEMORY, "could not start %u threads", parts - 1);
    oif_pool_free(*pool);
    *pool = made;
    return OIF_OK;
}

unsigned oif_pool_parts(const oif_pool *pool)
{
    return pool ? pool->parts : 1;
}

void *oif_pool_memory(const oif_pool *pool, unsigned part)
{
    return pool->memory + part * pool->bytes_a_part;
}

/* Starts a round; false if one is running. */
static bool begin_round(oif_pool *pool, void (*task)(void *context, unsigned part), void *context)
{
    pthread_mutex_lock(&pool->mutex);
    bool idle = !pool->in_use;
    if (idle) {
        pool->in_use = true;
        pool->task = task;
        pool->context = context;
        pool->busy = pool->parts - 1;
        pool->round++;
        pthread_cond_broadcast(&pool->round_began);
    }
    pthread_mutex_unlock(&pool->mutex);
    return idle;
}

static void end_round(oif_pool *pool)
{
    for (int look = 0; look < LOOKS && pool->busy > 0; look++)
        pause_briefly();
    pthread_mutex_lock(&pool->mutex);
    while (pool->busy > 0)
        pthread_cond_wait(&pool->round_ended, &pool->mutex);
    pool->in_use = false;
    pthread_mutex_unlock(&pool->mutex);
}

void oif_pool_run(oif_pool *pool, void (*task)(void *context, unsigned part), void *context)
{
    bool shared = pool && begin_round(pool, task, context);
    unsigned own_parts = shared ? 1 : oif_pool_parts(pool);
    for (unsigned part = 0; part < own_parts; part++)
        task(context, part);
    if (shared)
        end_round(pool);
}

#endif
