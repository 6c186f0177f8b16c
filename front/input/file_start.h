/* What is removed at the start of a file before it is read, and what the first lines of a later
 * file are. */
#ifndef OIF_FRONT_FILE_START_H
#define OIF_FRONT_FILE_START_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct file_start {
    uint64_t skipped_lines; /* of each file; they are made blank */
    const char *comment;    /* with this a comment begins; NULL: with # before the header */
    const char *header;     /* of the first file; NULL: it has none, or it is not known yet */
    size_t header_bytes;
    char delimiter;
} file_start;

typedef enum start_line {
    START_IS_BLANK,
    START_IS_COMMENT,    /* or names the delimiter */
    START_IS_HEADER,     /* the same as in the first file */
    START_IS_ROW,        /* a number is in it: the file has no header */
    START_IS_OTHER_TEXT, /* such as a header with other columns */
} start_line;

/* What a line, without its end, is at the start of a later file; the header is known. */
start_line file_start_judge(const file_start *start, const char *line, size_t bytes);

#endif
