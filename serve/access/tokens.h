/* Named tokens with a role, for streams by pattern.
 *
 *     oif token add web-agents --role write --streams 'web-*' --tokens FILE
 *
 * prints a token once and adds its hash to FILE, which is JSON:
 *
 *     {"tokens": [{"name": "web-agents", "role": "write", "streams": ["web-*"],
 *                  "sha256": "...", "created": "2026-11-18T10:00:00Z", "max_streams": 10}]}
 *
 * Only hashes are stored. A token has 256 random bits, so a plain hash needs no salt. The files of
 * --token-file and --read-token-file have one token per line, for all streams. */
#ifndef OIF_SERVE_TOKENS_H
#define OIF_SERVE_TOKENS_H

#include "serve/base/problem.h"
#include "serve/base/secrets.h"

#include <jansson.h>

enum { TOKENS_MAX = 1000, TOKEN_NAME_BYTES = 65, TOKEN_BYTES_MAX = 256 };

typedef enum access_level {
    ACCESS_NONE,
    ACCESS_READ,  /* see streams */
    ACCESS_WRITE, /* and send rows, create streams, mark episodes */
    ACCESS_ADMIN  /* and change and remove streams */
} access_level;

/* "read", "write", "admin", and back; ACCESS_NONE: no such role. */
const char *access_level_word(access_level level);
access_level access_level_of_word(const char *word);

/* What a token may take up in all its streams; 0: no limit of its own. */
typedef struct token_quota {
    size_t streams, keys;
    size_t columns; /* of each stream */
} token_quota;

typedef struct token {
    char name[TOKEN_NAME_BYTES];
    access_level level;
    char *streams; /* patterns; NULL: all */
    secret hash;
    token_quota most;
} token;

/* Tokens as they were when they were loaded; shared, and freed with the last reference. */
typedef struct token_table token_table;

/* Makes an empty table with one reference; NULL: out of memory. */
token_table *token_table_new(void);
token_table *token_table_keep(token_table *table); /* one more reference; accepts NULL */
void token_table_release(token_table *table);      /* accepts NULL */
size_t token_table_count(const token_table *table);

/* The token at a position, and the one with this hash or of this text; NULL: there is none. */
const token *token_table_at(const token_table *table, size_t index);
const token *token_table_find(const token_table *table, const secret *hash);
const token *token_table_find_text(const token_table *table, const char *text, size_t bytes);

/* Adds the tokens of a file, or says what is wrong with it. A file that others than its owner can
 * read is reported, one that they can write is refused. */
bool token_table_load(token_table *table, const char *file, problem *why);
bool token_table_load_lines(token_table *table, const char *file, access_level level, problem *why);

/* The file as JSON; an empty one if it does not exist. The caller frees it; NULL: `why` says what
 * is wrong. */
json_t *token_file_read(const char *file, problem *why);

#endif
