/* The tokens of a server: one to read and write, one only to read, each in a file of its own. */
#ifndef OIF_SERVE_TOKENS_H
#define OIF_SERVE_TOKENS_H

#include "serve/base/problem.h"
#include "serve/base/secrets.h"

typedef enum access_level {
    ACCESS_NONE,
    ACCESS_READ, /* see streams */
    ACCESS_WRITE /* and send rows, create, change and remove streams, mark episodes */
} access_level;

/* Hashes, which take the same time to compare whatever the token is. */
typedef struct tokens {
    bool has_write, has_read;
    secret write, read;
} tokens;

/* Reads the files; NULL: there is no such token. Reports a file that others than its owner can
 * read, and refuses one that they can write. */
bool tokens_load(const char *write_file, const char *read_file, tokens *all, problem *why);

/* Whether a request needs one: the server has one. */
bool tokens_are_needed(const tokens *all);

/* What a token may do; ACCESS_NONE: it is none of these. */
access_level tokens_level(const tokens *all, const char *text, size_t bytes);

#endif
