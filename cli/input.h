/* Rows from a file or stdin: opens it, chooses the columns, and says where a bad one stands. */
#ifndef OIF_CLI_INPUT_H
#define OIF_CLI_INPUT_H

#include "state.h"

/* Bytes that were read and are to be read again. */
struct source {
    char *held;
    size_t bytes_held, bytes_given, capacity;
    bool holds; /* all that is read from now on, too */
};

struct bad_rows;

struct input {
    const char *name; /* for messages: the path, or <stdin> */
    int fd;
    uint64_t total_bytes; /* of a regular file; 0: unknown */
    uint64_t bytes_read;
    int read_error; /* the errno of a failed read */
    void (*pauses)(
        /* called before a wait for bytes that are not there yet; NULL: nobody asks */
        void *context);
    void *pause_context;
    struct state *state; /* may fall due while input is waited for; NULL: there is none */

    oif_format format;
    oif_reader *reader;
    size_t *features; /* the columns that are learned from, in the order of a record's values */
    size_t feature_count;
    size_t label_column;
    /* what was learned before, whose columns these have to be; NULL: nothing */
    const oif_pipeline *known;
    const char *known_from; /* the file it was loaded from */

    /* Which of a record's texts is what. With all_texts there is one for each column. */
    bool has_key, has_time, all_texts;
    size_t key_text, time_text;

    /* What the reader takes off the text and the output puts back. The first line speaks for
     * all. */
    size_t byte_order_mark_bytes; /* 3 when there is one */
    const char *line_end;         /* "\n" or "\r\n" */
    bool first_line_seen;
    char last_byte;
    uint64_t header_line; /* blank ones may come before it */
    bool text_seen;

    struct source source;
    struct bad_rows
        /* gets the lines at the start that are neither header nor row; NULL: such a line
         * fails */
        *bad;
};

/* Whether the label is read as a number (it then follows the features in each record's values)
 * or may be any text and only stays out of the features. */
enum label_use { LABEL_IGNORED, LABEL_READ };

/* Opens what settings->file names and selects the columns, those of `known` unless it is NULL;
 * input->reader then gives the records. `bad` as above. Prints what is wrong unless it returns
 * EXIT_OK. */
exit_code input_open(struct input *input, const struct settings *settings, enum label_use label_use,
                     const oif_pipeline *known, struct bad_rows *bad);
void input_close(struct input *input);

/* Whether the columns have names that are not made up. */
bool input_has_names(const struct input *input);

/* The name of the column that a record's value number `feature` is from; where the input has
 * none, the one by which it was known before. */
const char *input_feature_name(const struct input *input, size_t feature);

/* "file:line:column: message", as complaints have it. */
enum { PLACE_TEXT_BYTES = 4608 };
const char *input_place_text(const struct input *input, const oif_error *error,
                             char text[PLACE_TEXT_BYTES]);

/* Prints "oif: file:line:column: message": what the reader reports, or what is wrong with a
 * record's label, or with a name in the header. */
exit_code input_complain(const struct input *input, const oif_error *error);
exit_code input_complain_label(const struct input *input, const oif_record *record,
                               const char *message);
exit_code input_complain_header(const struct input *input, size_t column, const char *message);

#endif
