/* Threads that wait for what clients send, each with connections of its own.
 *
 * libmicrohttpd has such threads, too (MHD_OPTION_THREAD_POOL_SIZE). But when exactly 128
 * connections, the most that it asks the kernel for at once, become readable together, it waits for
 * a 129th before it reads them: clients got no answer until --timeout. Here it only works when
 * asked to (MHD_run, which never waits), and the waiting is ours. */
#ifndef OIF_SERVE_LOOPS_H
#define OIF_SERVE_LOOPS_H

#include <microhttpd.h>
#include <stdbool.h>

typedef struct loops loops;

/* Room for `count` threads; none runs yet. NULL: out of memory or descriptors. */
loops *loops_new(unsigned count);

/* Starts them. make returns a daemon without threads that uses epoll and has a listening socket of
 * its own; or NULL, in which case this returns false. */
bool loops_start(loops *all, struct MHD_Daemon *(*make)(void *context), void *context);

/* Resumes a suspended connection, from any thread. */
void loops_resume(loops *all, struct MHD_Connection *wire);

/* Soon no connection is accepted any more; open ones are answered. */
void loops_accept_no_more(loops *all);

/* Ends the threads. Connections stay: those that other threads hold can still be resumed. */
void loops_end(loops *all);

/* Ends the threads, then all connections. Accepts NULL. */
void loops_close(loops *all);

#endif
