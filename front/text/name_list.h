/* Names of columns on the command line: "a,b". A name with a comma is in quotes as in CSV:
 * '"b,c",d'. A name may be a pattern (cpu.*, *_total), and in NDJSON an object with all that is
 * in it (labels). */
#ifndef OIF_FRONT_NAME_LIST_H
#define OIF_FRONT_NAME_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the first name of a list to `name`, which has room for strlen(list) + 1 bytes. Returns
 * the rest of the list, NULL after the last name. */
const char *name_list_next(const char *list, char *name);

/* Appends a name to an allocated list, NULL at first. Returns the list; NULL if out of memory, and
 * then the list is freed. */
char *name_list_append(char *list, const char *name);

/* Whether the list, which may be NULL, has this very name. */
bool name_list_has(const char *list, const char *name);

/* Whether a column is meant by a name that is not exactly its own: as a pattern, or, where names
 * are paths, as the object that the column is in. */
bool name_is_pattern(const char *name);
bool name_covers(const char *name, const char *column, bool is_path);

/* The same for any name of a list, or the name itself. */
bool name_list_covers(const char *list, const char *column, bool is_path);

/* A list that is made for a message: "a, b and 3 more", or to be pasted into a shell. */
enum { NAMES_TEXT_BYTES = 1024 };
typedef struct names_text {
    char read[NAMES_TEXT_BYTES];  /* a, b */
    char paste[NAMES_TEXT_BYTES]; /* a,b */
    size_t count, shown;
    bool is_ended;      /* with how many more there are */
    bool is_quoted;     /* for the shell */
    bool is_not_pasted; /* one of them cannot be typed, or there is no room */
} names_text;

void names_text_add(names_text *names, const char *name);

/* The same with a word to paste instead, and a value to show unless it is "": a ('x'), b ('y'). */
void names_text_add_as(names_text *names, const char *name, const char *pasted, const char *value);

/* Text for people; and for --exclude and such, "A,B,..." if it is too long for a message. Both
 * live as long as `names`. */
const char *names_text_read(names_text *names);
const char *names_text_paste(names_text *names);

#endif
