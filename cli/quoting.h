/* Text on stdout, quoted for CSV and JSON. All return false once stdout takes no more. */
#ifndef OIF_CLI_QUOTING_H
#define OIF_CLI_QUOTING_H

#include <stdbool.h>
#include <stddef.h>

/* A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD, as in jq. */
bool quoting_write_json(const char *text, size_t bytes);

/* A CSV field, in quotes where it needs them. */
bool quoting_write_csv(const char *text, size_t bytes, char delimiter);

/* The inside of a quoted CSV field: every quote twice. */
bool quoting_write_doubled(const char *text, size_t bytes);

#endif
