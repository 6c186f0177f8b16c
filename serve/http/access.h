/* Access control: tokens, and protection of a local server against pages of other sites.
 *
 * Without tokens the server listens only on loopback, and everyone on the machine may read and
 * write. The Host header must then name this machine (a foreign name that resolves to 127.0.0.1 is
 * refused), and a browser's write for a page of another origin is refused. With tokens, each
 * request needs one: as "Authorization: Bearer TOKEN", or as the cookie that POST /login gives to
 * the page. */
#ifndef OIF_SERVE_ACCESS_H
#define OIF_SERVE_ACCESS_H

#include "front/text/output.h"
#include "request.h"

enum { TOKEN_BYTES_MAX = 256, TOKENS_MAX = 16 };

typedef struct token {
    char bytes[TOKEN_BYTES_MAX]; /* padded with zeros */
    bool may_write;
} token;

typedef struct access_rules {
    token tokens[TOKENS_MAX];
    size_t token_count;
    bool is_loopback;
} access_rules;

typedef enum access_level { ACCESS_NONE, ACCESS_READ, ACCESS_WRITE } access_level;

/* Adds the tokens of a file, one per line. Complains if there is none, or if one is too short to be
 * safe or cannot be sent in a header. */
exit_code access_load(access_rules *rules, const char *file, bool may_write);

/* What a token allows. Compares every token in full, in constant time. */
access_level access_of_token(const access_rules *rules, const char *text, size_t bytes);

/* What the request may do, by its token or cookie. */
access_level access_of(const access_rules *rules, const request *asked);

/* Whether the request has this level, names this machine and, if it writes, comes from its own
 * page. */
bool access_check(const access_rules *rules, const request *asked, access_level needed,
                  problem *why);

#define ACCESS_COOKIE "oif_token"

#endif
