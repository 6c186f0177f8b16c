/* A background thread that mostly waits and can be stopped at once. */
#ifndef OIF_SERVE_BACKGROUND_H
#define OIF_SERVE_BACKGROUND_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct background {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wakes;
    bool is_woken;
    atomic_bool is_stopped; /* read without the lock by running requests: http_client_new */
} background;

/* Returns 0 or an errno. */
int background_start(background *beside, void *(*run)(void *context), void *context);

/* Stops the thread and waits for its end. */
void background_stop(background *beside);

/* For the thread: waits for that long, or until woken. Returns false at once if the thread must
 * end. */
bool background_wait(background *beside, double seconds);

/* Ends the thread's wait, or its next one. */
void background_wake(background *beside);

/* Seconds since 1970 by the wall clock. */
double background_wall_seconds(void);

#endif
