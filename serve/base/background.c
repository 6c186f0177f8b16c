#include "background.h"

#include <math.h>
#include <time.h>

/* Waits by the monotonic clock: if the clock were set, a wait could last for hours. */
static void make_locks(background *beside)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&beside->wakes, &attributes);
    pthread_condattr_destroy(&attributes);
    pthread_mutex_init(&beside->lock, NULL);
}

static void destroy_locks(background *beside)
{
    pthread_cond_destroy(&beside->wakes);
    pthread_mutex_destroy(&beside->lock);
}

int background_start(background *beside, void *(*run)(void *context), void *context)
{
    beside->is_woken = false;
    atomic_init(&beside->is_stopped, false);
    make_locks(beside);
    int failure = pthread_create(&beside->thread, NULL, run, context);
    if (failure != 0)
        destroy_locks(beside);
    return failure;
}

void background_stop(background *beside)
{
    pthread_mutex_lock(&beside->lock);
    atomic_store(&beside->is_stopped, true);
    pthread_cond_signal(&beside->wakes);
    pthread_mutex_unlock(&beside->lock);
    pthread_join(beside->thread, NULL);
    destroy_locks(beside);
}

bool background_wait(background *beside, double seconds)
{
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    double until = (double)moment.tv_nsec * 1e-9 + (seconds > 0 ? seconds : 0);
    moment.tv_sec += (time_t)floor(until);
    moment.tv_nsec = (long)((until - floor(until)) * 1e9);
    pthread_mutex_lock(&beside->lock);
    int outcome = 0;
    while (!atomic_load(&beside->is_stopped) && !beside->is_woken && outcome == 0)
        outcome = pthread_cond_timedwait(&beside->wakes, &beside->lock, &moment);
    beside->is_woken = false;
    bool goes_on = !atomic_load(&beside->is_stopped);
    pthread_mutex_unlock(&beside->lock);
    return goes_on;
}

void background_wake(background *beside)
{
    pthread_mutex_lock(&beside->lock);
    beside->is_woken = true;
    pthread_cond_signal(&beside->wakes);
    pthread_mutex_unlock(&beside->lock);
}

double background_wall_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
