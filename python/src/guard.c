/* A lock that survives a fork. In the child only the forking thread continues: a lock held by
 * another thread would stay locked forever, and an object that thread was changing is inconsistent.
 * So the first use in a child creates a new lock, and an object that was being changed raises an
 * error instead of a hang or a crash.
 *
 * The GIL protects the fields, so entering a free guard only sets its owner. Taking and releasing a
 * lock of Python's each time was 153 of the 1,615 instructions of a call with a list, and a quarter
 * of its time. */
#include "core.h"

#include <pthread.h>

/* number of forks between this process and the one that loaded the module */
static unsigned forks;

static void count_fork(void)
{
    forks++;
}

bool guard_init(guard *g)
{
    static bool registered;
    if (!registered && pthread_atfork(NULL, NULL, count_fork) == 0)
        registered = true;
    *g = (guard){.turn = PyThread_allocate_lock(), .generation = forks};
    if (g->turn)
        PyThread_acquire_lock(g->turn, NOWAIT_LOCK);
    else
        PyErr_NoMemory();
    return g->turn != NULL;
}

static void give_turn(guard *g)
{
    if (!g->turn_given)
        PyThread_release_lock(g->turn);
    g->turn_given = true;
}

void guard_free(guard *g)
{
    if (!g->turn)
        return;
    give_turn(g); /* a lock is free when it is freed */
    PyThread_free_lock(g->turn);
    g->turn = NULL;
}

bool guard_is_forked(const guard *g)
{
    return g->generation != forks;
}

static bool renew(guard *g)
{
    guard fresh;
    if (!guard_init(&fresh))
        return false;
    fresh.broken = g->broken || (g->owner != 0 && g->writing);
    if (g->owner == 0 && g->waiting == 0)
        guard_free(g); /* a lock in use is abandoned, not freed */
    *g = fresh;
    return true;
}

/* Another thread may enter first even so. */
static void wait_for_turn(guard *g)
{
    g->waiting++;
    PyThreadState *state = PyEval_SaveThread();
    PyThread_acquire_lock(g->turn, WAIT_LOCK);
    PyEval_RestoreThread(state);
    g->waiting--;
    g->turn_given = false;
}

bool guard_enter(guard *g, bool writing)
{
    unsigned long self = PyThread_get_thread_ident();
    if (g->owner == self) {
        PyErr_SetString(PyExc_RuntimeError, "this thread is using the object already");
        return false;
    }
    if (g->generation != forks && !renew(g))
        return false;
    if (g->broken) {
        PyErr_SetString(PyExc_RuntimeError, "another thread was changing the object when this "
                                            "process was forked; load it or make a new one");
        return false;
    }
    while (g->owner != 0)
        wait_for_turn(g);
    g->owner = self;
    g->writing = writing;
    return true;
}

void guard_leave(guard *g)
{
    g->owner = 0;
    g->writing = false;
    if (g->waiting > 0)
        give_turn(g);
}
