/* Locking of a stream. A body may have millions of rows, and a metric, a page or a sync of the
 * journal must not wait for all of them:
 *
 *     a thread that changes the stream  holds `changing` from the first row to the last, and `lock`
 *     a thread that looks at it         holds `lock` alone, for a moment
 *
 * Between two rows the stream is as consistent as between two bodies. There the thread that
 * processes a body hands `lock` to those that wait to look. A mutex is not fair: a thread that
 * releases it and takes it again usually comes first. So a thread that wants `lock` first takes
 * `turn`, and keeps it while it waits. */
#include "stream_parts.h"

static void lock_in_turn(stream *one)
{
    pthread_mutex_lock(&one->turn);
    pthread_mutex_lock(&one->lock);
    pthread_mutex_unlock(&one->turn);
}

void stream_read_lock(stream *one)
{
    atomic_fetch_add(&one->waiting, 1);
    lock_in_turn(one);
    atomic_fetch_sub(&one->waiting, 1);
}

void stream_read_unlock(stream *one)
{
    pthread_mutex_unlock(&one->lock);
}

void stream_begin_change(stream *one)
{
    pthread_mutex_lock(&one->changing);
    lock_in_turn(one);
}

bool stream_may_change_now(stream *one)
{
    if (pthread_mutex_trylock(&one->changing) != 0)
        return false;
    lock_in_turn(one);
    return true;
}

void stream_end_change(stream *one)
{
    pthread_mutex_unlock(&one->lock);
    pthread_mutex_unlock(&one->changing);
}

void stream_let_look(stream *one)
{
    if (atomic_load_explicit(&one->waiting, memory_order_relaxed) == 0)
        return;
    pthread_mutex_unlock(&one->lock);
    lock_in_turn(one);
}
