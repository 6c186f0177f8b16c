/* Sessions of the page: a login with a token returns a cookie that is another secret, and
 * that ends by a logout, after 30 days, with its token, or if an administrator ends it.
 *
 * A session has the hash of its cookie and the hash of its token. With a folder the sessions are in
 * FOLDER/sessions, so the page on a wall stays logged in after a restart. Any thread may make any
 * call. */
#ifndef OIF_SERVE_SESSIONS_H
#define OIF_SERVE_SESSIONS_H

#include "tokens.h"

typedef struct sessions sessions;

enum { SESSIONS_MAX = 1000, SESSION_SECONDS = 30 * 24 * 3600 };

/* Loads FOLDER/sessions; `folder` may be NULL. A file that cannot be used is reported, and everyone
 * has to log in again. NULL: out of memory. */
sessions *sessions_open(const char *folder);
void sessions_close(sessions *all); /* accepts NULL */

/* Begins a session of this token; the oldest one ends if there are too many. `cookie` is its
 * secret. False: there are no random numbers, or out of memory. */
bool sessions_begin(sessions *all, const secret *token_hash, const char *from,
                    char cookie[SECRET_HEX_BYTES]);

/* The token of a session; false: there is no such session. */
bool sessions_find(sessions *all, const char *cookie, size_t bytes, secret *token_hash);

/* Ends the session of a cookie, or the one with this id, which is the begin of its hash. False:
 * there is none. */
bool sessions_end(sessions *all, const char *cookie, size_t bytes);
bool sessions_end_id(sessions *all, const char *id);

/* [{"id": ..., "token": name, "from": ..., "began": ..., "used": ...}, ...], written to the
 * (diverted) output. Sessions whose token is not in the table end. */
void sessions_write(sessions *all, const token_table *tokens);

#endif
