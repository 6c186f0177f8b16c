/* Text of other programs, turned into CSV or NDJSON while it is read. One format is a
 * `translation`: it gets lines and prints rows.
 *
 *     files --> byte_source --> translator --> oif_reader
 *                   ^               |
 *                   +-- unfiltered -+
 *
 * A row is printed at the line that it comes from; lines between rows stay as blank lines. So the
 * reader's line numbers are those of the file. If several rows come from one line, later rows have
 * higher numbers. Memory: one line, one piece of the input and its rows. */
#ifndef OIF_FRONT_TRANSLATOR_H
#define OIF_FRONT_TRANSLATOR_H

#include "front/input/byte_source.h"

/* What the settings ask for; NULL and 0: nothing. */
typedef struct translator_options {
    const char *key, *time; /* columns */
    const char *pivot;      /* "METRIC:VALUE" */
    double every;           /* seconds of one row of an access log */
    oif_reader_options reader;
} translator_options;

typedef struct translator translator;

typedef struct translation {
    const char *word;   /* of --format */
    const char *what;   /* for messages */
    oif_format writes;  /* CSV or NDJSON */
    char delimiter;     /* CSV */
    size_t state_bytes; /* of what it keeps, zero at first */
    /* Whether an input begins so. The text has the whole first line, or 64 KiB. NULL: see
     * formats.c. */
    bool (*recognise)(const char *text, size_t bytes);
    /* One line without its end, or any piece of the text; then the end. They print rows. */
    void (*line)(translator *by, oif_text line);
    void (*piece)(translator *by, oif_text piece);
    void (*end)(translator *by);
    /* Instead of all three: reads by itself, and prints between translator_print and
     * translator_printed. Returns false if reading failed. */
    bool (*pull)(translator *by);
    void (*close)(translator *by); /* NULL: nothing to free */
    const char *bad_line;          /* what to say about a line that is printed as "!" */
} translation;

/* What the format knows about its columns, as options name them; "": nothing. */
enum { IMPLIED_BYTES = 128 };
typedef struct implied_roles {
    char key[IMPLIED_BYTES], time[IMPLIED_BYTES], exclude[IMPLIED_BYTES];
} implied_roles;

struct translator {
    byte_filter filter; /* the first member */
    const translation *format;
    translator_options options;
    implied_roles implied;
    void *state;
    byte_source *source;
    uint64_t line; /* that is translated, from 1 */

    uint64_t lines_printed;
    char *printed; /* what the reader gets next */
    size_t printed_bytes, printed_given;

    char *unfinished; /* the beginning of a line */
    size_t unfinished_bytes, unfinished_capacity;
    char *piece;
    bool has_ended, is_noted;
    char problem[512]; /* that ends the run; "": none */
};

/* To be given to byte_source_set_filter, which closes it. NULL: out of memory. */
translator *translator_new(const translation *format, const translator_options *options);

/* Around what `pull` prints. */
void translator_print(translator *by);
void translator_printed(translator *by);

/* For formats. Before a row is printed, with the line that it is from; then after it. */
void translator_begin_row(translator *by, uint64_t line);
void translator_end_row(translator *by);

/* A row that the reader refuses, with the message `bad_line`. */
void translator_bad_row(translator *by);

/* Ends the run at a line of the input. */
void translator_fail(translator *by, uint64_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A note with the place; only the first one is printed. */
void translator_note(translator *by, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The message for what the reader says about a line printed as "!". */
void translator_explain(const translator *by, oif_error *error);

/* Words between blanks; the last of `most` words is the rest of the line. Returns their count. */
size_t translator_words(oif_text line, oif_text *words, size_t most);
bool text_is(oif_text text, const char *word);
bool text_begins(oif_text text, const char *beginning);
bool text_has(oif_text text, const char *part);

#endif
