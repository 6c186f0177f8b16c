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
    bool is_woken;
    atomic_bool is_stopped; /* read without the lock by requests under way: http_client_new */
} background;

/* Returns 0, or what errno would be. */
int background_start(background *beside, void *(*run)(void *context), void *context);

/* Asks the thread to end, and waits for that. */
void background_stop(background *beside);

/* On the thread: waits for that long, or until it is woken. Returns false at once when the thread
 * is to end. */
bool background_wait(background *beside, double seconds);

/* Ends the wait of the thread, or the next one. */
void background_wake(background *beside);

/* Seconds since 1970 by the machine's clock. */
double background_wall_seconds(void);

#endif
