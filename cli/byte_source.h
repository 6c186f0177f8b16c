/* The bytes of a file or of stdin. The first ones can be looked at before they are read: held
 * bytes are read again. */
#ifndef OIF_CLI_BYTE_SOURCE_H
#define OIF_CLI_BYTE_SOURCE_H

#include "output.h"

typedef struct byte_source {
    const char *name; /* for messages: the path, or <stdin> */
    int fd;
    uint64_t total_bytes; /* of a regular file; 0: unknown */
    uint64_t bytes_read;
    int read_error; /* the errno of a failed read */

    /* Called when no bytes are there yet. Returns the milliseconds after which it wants to be
     * called again while they are still missing, -1 for never. NULL: there is nothing to do. */
    int (*idle)(void *context);
    void *idle_context;

    /* What the reader removes from the text and the output puts back. The first line decides. */
    size_t byte_order_mark_bytes; /* 3 when there is one */
    const char *line_end;         /* "\n" or "\r\n" */
    bool first_line_seen;
    char last_byte;
    uint64_t header_line; /* the first line that is not blank */
    bool text_seen;

    char *held;
    size_t bytes_held, bytes_given, capacity;
    bool holds; /* whether new bytes are held too */
} byte_source;

/* Opens a file; NULL or "-" is stdin. Prints what is wrong unless it returns EXIT_OK. */
exit_code byte_source_open(byte_source *source, const char *file);
void byte_source_close(byte_source *source);

/* For readers; the context is the source. The output is flushed before every wait for bytes, so
 * results never lag behind the input. */
ptrdiff_t byte_source_read(void *source, char *buffer, size_t capacity);

/* The first byte that is neither blank nor of a byte order mark; 0 when none is nearby. */
char byte_source_peek(byte_source *source);

/* The next read starts again with the first held byte. */
void byte_source_rewind(byte_source *source);

/* Of the held bytes: the number of the first line that is not blank; and makes that line blank,
 * so the lines after it keep their numbers. False at the end of the input. */
uint64_t byte_source_line(const byte_source *source);
bool byte_source_drop_line(byte_source *source);

#endif
