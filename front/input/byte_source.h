/* The bytes of one file, of several files one after the other, or of stdin. The first bytes can
 * be inspected before they are read: bytes that are held are read again.
 *
 * Several files of text are one stream. Each line ends before the next file begins, and a later
 * file's byte order mark and header are removed; their lines stay, so a line of the stream has a
 * place in its file:
 *
 *     a.csv  x,y        stream  1  x,y        a.csv:1
 *            1,2                2  1,2        a.csv:2
 *     b.csv  x,y                3             b.csv:1
 *            3,4                4  3,4        b.csv:2
 */
#ifndef OIF_FRONT_BYTE_SOURCE_H
#define OIF_FRONT_BYTE_SOURCE_H

#include "file_list.h"
#include "file_start.h"
#include "input_file.h"

#include "oif_rows.h"

/* Turns the text of other programs into rows before it is read (front/formats). */
typedef struct byte_filter byte_filter;

/* Bytes that are in memory instead of a file. */
typedef struct byte_memory {
    oif_text pieces[2]; /* one after the other */
    size_t piece, given;
    char last;    /* that was given; a line end is added where it lacks */
    bool is_open; /* more may follow: after the last byte reading fails, and can be repeated */
} byte_memory;

typedef struct byte_source {
    const char *name; /* for messages: the first file's path, or <stdin> */
    file_list files;
    size_t file_index; /* of the current file */
    input_file file;
    byte_memory *memory; /* instead of files; NULL: files */
    byte_filter *filter; /* between these and what is read; NULL: none */
    file_start start;
    uint64_t bytes_read; /* as they are stored, of all files */
    const char *problem; /* why a read failed, with the place; NULL: it did not */
    bool has_ended;      /* a terminal would wait again */

    /* Called while there are no bytes to read. Returns the milliseconds after which to call it
     * again, -1 for never. NULL: there is nothing to do. */
    int (*idle)(void *context);
    void *idle_context;

    /* Called before bytes are asked for: the reader has no whole record left. Returns false if
     * nothing more is to be read. NULL: not needed. */
    bool (*before_read)(void *context);
    void *before_read_context;

    /* What the reader removes from the text and the output puts back. The first line decides. */
    size_t byte_order_mark_bytes; /* 3 when there is one */
    const char *line_end;         /* "\n" or "\r\n" */
    bool first_line_seen;
    uint64_t bytes_noticed;
    char last_byte;
    uint64_t header_line; /* the first line that is not blank */
    bool text_seen;

    /* Where several files begin in the stream. */
    uint64_t *first_lines; /* one for each file that has begun; NULL: there is only one */
    uint64_t lines;        /* that have ended so far */
    char final_byte;       /* of what was read so far */

    /* The start of the current file. */
    bool is_start_due; /* it has not been looked at yet */
    char *begun;
    size_t begun_bytes, begun_given, begun_capacity;

    /* What was held when the filter came. */
    char *unfiltered;
    size_t unfiltered_bytes, unfiltered_given;

    char *held;
    size_t bytes_held, bytes_given, capacity;
    bool holds; /* whether new bytes are held too */
} byte_source;

struct byte_filter {
    /* As byte_source_read. Takes the text of the files from byte_source_read_unfiltered; if it
     * returns -1, source->problem says why. */
    ptrdiff_t (*read)(byte_filter *filter, byte_source *source, char *buffer, size_t capacity);
    void (*close)(byte_filter *filter);
    size_t ready_bytes; /* for which it need not wait */
};

/* Opens files; none, or "-", is stdin. Prints what is wrong unless it returns EXIT_OK. To be closed
 * in any case. */
exit_code byte_source_open(byte_source *source, char *const files[], size_t count,
                           const file_start *start);
void byte_source_close(byte_source *source);

/* The same for bytes in memory, which are not copied; `name` is for messages. */
void byte_source_open_memory(byte_source *source, const char *name, byte_memory *memory,
                             const file_start *start);

/* For readers; the context is the source. The output is flushed before every wait for bytes, so
 * results never lag behind the input. */
ptrdiff_t byte_source_read(void *source, char *buffer, size_t capacity);

/* From now on the filter, which the source closes, gives the bytes: first those that are held. And
 * the bytes without it. */
void byte_source_set_filter(byte_source *source, byte_filter *filter);
ptrdiff_t byte_source_read_unfiltered(byte_source *source, char *buffer, size_t capacity);

/* Makes the source hold more, up to `bytes` of them. Returns false if there are no more. */
bool byte_source_hold_more(byte_source *source, size_t bytes);

/* The file that a line of the stream is in; *line becomes its number there. */
const char *byte_source_place(const byte_source *source, uint64_t *line);

/* "a.csv", "a.csv and 2 more": all files, for messages about the input as a whole. */
enum { BYTE_SOURCE_TITLE_BYTES = 4096 + 32 };
const char *byte_source_title(const byte_source *source, char title[BYTE_SOURCE_TITLE_BYTES]);

/* Whether bytes can be read now, or within that many milliseconds. */
bool byte_source_is_ready(const byte_source *source, int milliseconds);

/* The first byte that is neither blank nor part of a byte order mark; 0 if none is near the
 * start. */
char byte_source_peek(byte_source *source);

/* The held bytes from that first byte on. */
const char *byte_source_held_text(const byte_source *source, size_t *bytes);

/* The next read starts again with the first held byte, or with a later one. */
void byte_source_rewind(byte_source *source);
void byte_source_return_to(byte_source *source, size_t held_byte);

/* In the held bytes: the number of the first line that is not blank; and blanks that line, so
 * the lines after it keep their numbers. Returns false at the end of the input. */
uint64_t byte_source_line(const byte_source *source);
bool byte_source_drop_line(byte_source *source);

#endif
