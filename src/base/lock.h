/* A lock around what threads of the program share. It is held for a moment only. A library without
 * threads of its own (OIF_WITHOUT_THREADS) does not need pthread: its locks spin. */
#ifndef OIF_BASE_LOCK_H
#define OIF_BASE_LOCK_H

#ifdef OIF_WITHOUT_THREADS

#include <stdatomic.h>

typedef atomic_flag oif_lock;

#define OIF_LOCK_FREE ATOMIC_FLAG_INIT

static inline void oif_lock_init(oif_lock *lock)
{
    atomic_flag_clear(lock);
}

static inline void oif_lock_destroy(oif_lock *lock)
{
    (void)lock;
}

static inline void oif_lock_acquire(oif_lock *lock)
{
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire)) {
    }
}

static inline void oif_lock_release(oif_lock *lock)
{
    atomic_flag_clear_explicit(lock, memory_order_release);
}

#else

#include <pthread.h>

typedef pthread_mutex_t oif_lock;

#define OIF_LOCK_FREE PTHREAD_MUTEX_INITIALIZER

static inline void oif_lock_init(oif_lock *lock)
{
    pthread_mutex_init(lock, NULL);
}

static inline void oif_lock_destroy(oif_lock *lock)
{
    pthread_mutex_destroy(lock);
}

static inline void oif_lock_acquire(oif_lock *lock)
{
    pthread_mutex_lock(lock);
}

static inline void oif_lock_release(oif_lock *lock)
{
    pthread_mutex_unlock(lock);
}

#endif
#endif
