/* Members of a JSON object that are not its first: ,"name":value */
#ifndef OIF_FRONT_WRITE_JSON_H
#define OIF_FRONT_WRITE_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* A number, or null if it is not finite. */
void write_json_member(const char *name, double value);

/* A text; and one that is null if it is empty or NULL. */
void write_json_string(const char *name, const char *text);
void write_json_text(const char *name, const char *text);

/* The value of a member that may have any bytes, or null if there is none. */
void write_json_key(bool has_key, const char *key, size_t key_bytes);

#endif
