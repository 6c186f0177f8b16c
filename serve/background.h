/* A thread beside the streams that waits most of the time and can be stopped at once. */
#ifndef OIF_SERVE_BACKGROUND_H
#define OIF_SERVE_BACKGROUND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct background {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wakes;
    bool is_to_stop;
    atomic_bool is_stopped; /* the same, for requests under way: http_client_new */
} background;

/* Returns 0, or what errno would be. */
int background_start(background *beside, void *(*run)(void *context), void *context);

/* Asks the thread to end, and waits for that. */
void background_stop(background *beside);

/* On the thread: waits for that long. Returns false at once when the thread is to end. */
bool background_wait(background *beside, double seconds);

/* A condition whose waits are by CLOCK_MONOTONIC. The machine's clock may be set, and a wait would
 * then last for hours. */
void background_make_condition(pthread_cond_t *condition);

/* Seconds since 1970 by the machine's clock. */
double background_wall_seconds(void);

#endif
