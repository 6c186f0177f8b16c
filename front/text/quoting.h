/* Text on stdout, quoted for CSV and JSON, and text for messages. What writes to stdout returns
 * false once it is closed or has failed. */
#ifndef OIF_FRONT_QUOTING_H
#define OIF_FRONT_QUOTING_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of the character that [at, end) begins with, if they are UTF-8: 1 to 4; otherwise 0,
 * and *invalid_bytes are those of its beginning that could have become one. */
size_t quoting_character_bytes(const char *at, const char *end, size_t *invalid_bytes);

/* Puts a text, where it needs them, into the quotes of the shell, a quote in it as '\\''. Returns
 * false if `capacity` bytes are too few. */
bool quoting_for_shell(char *text, size_t capacity);

/* A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD, as in jq. */
bool quoting_write_json(const char *text, size_t bytes);

/* Whether the text is a number as JSON writes them: +1, .5, 1. and 007 are not. */
bool quoting_is_json_number(const char *text, size_t bytes);

/* A CSV field, in quotes where it needs them. */
bool quoting_write_csv(const char *text, size_t bytes, char delimiter);

/* The inside of a quoted CSV field: every quote twice. */
bool quoting_write_doubled(const char *text, size_t bytes);

/* A value of logfmt, in quotes where it needs them; and a name, with _ in place of characters
 * that it cannot have. */
bool quoting_write_logfmt(const char *text, size_t bytes);
bool quoting_write_logfmt_name(const char *name);

#endif
