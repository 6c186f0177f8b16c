#include "jobs.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct job {
    struct job *next;
    void (*work)(void *context);
    void *context;
} job;

struct jobs {
    pthread_mutex_t lock;
    pthread_cond_t added;
    job *first, **end;
    bool is_closing;
    size_t thread_count;
    pthread_t threads[];
};

static job *take(jobs *all)
{
    pthread_mutex_lock(&all->lock);
    while (!all->first && !all->is_closing)
        pthread_cond_wait(&all->added, &all->lock);
    job *taken = all->first;
    if (taken) {
        all->first = taken->next;
        if (!all->first)
            all->end = &all->first;
    }
    pthread_mutex_unlock(&all->lock);
    return taken;
}

static void *run(void *context)
{
    job *taken;
    while ((taken = take(context)) != NULL) {
        taken->work(taken->context);
        free(taken);
    }
    return NULL;
}

jobs *jobs_open(size_t threads)
{
    jobs *all = calloc(1, sizeof *all + threads * sizeof all->threads[0]);
    if (!all)
        return NULL;
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->added, NULL);
    all->end = &all->first;
    while (all->thread_count < threads &&
           pthread_create(&all->threads[all->thread_count], NULL, run, all) == 0)
        all->thread_count++;
    if (all->thread_count > 0)
        return all;
    jobs_close(all);
    return NULL;
}

void jobs_close(jobs *all)
{
    if (!all)
        return;
    pthread_mutex_lock(&all->lock);
    all->is_closing = true;
    pthread_cond_broadcast(&all->added);
    pthread_mutex_unlock(&all->lock);
    for (size_t i = 0; i < all->thread_count; i++)
        pthread_join(all->threads[i], NULL);
    pthread_cond_destroy(&all->added);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

bool jobs_add(jobs *all, void (*work)(void *context), void *context)
{
    job *added = malloc(sizeof *added);
    if (!added)
        return false;
    *added = (job){NULL, work, context};
    pthread_mutex_lock(&all->lock);
    *all->end = added;
    all->end = &added->next;
    pthread_cond_signal(&all->added);
    pthread_mutex_unlock(&all->lock);
    return true;
}
