/* Rows from a file or stdin: opens it, chooses the columns, and says where a bad one stands. */
#ifndef OIF_CLI_INPUT_H
#define OIF_CLI_INPUT_H

#include "state.h"

struct input {
    const char *name; /* for messages: the path, or <stdin> */
    int fd;
    uint64_t total_bytes; /* of a regular file; 0: unknown */
    uint64_t bytes_read;
    int read_error;      /* the errno of a failed read */
    struct state *state; /* may fall due while input is waited for; NULL: there is none */

    oif_reader *reader;
    size_t feature_count;
    size_t label_column;

    /* What the reader takes off the text and the output puts back. The first line speaks for all. */
    size_t byte_order_mark_bytes; /* 3 when there is one */
    const char *line_end;         /* "\n" or "\r\n" */
    bool first_line_seen;
    char last_byte;
};

/* Whether the label is read as a number (it then follows the features in each record's values) or may be any
 * text and only stays out of the features. */
enum label_use { LABEL_IGNORED, LABEL_READ };

/* Opens what settings->file names and selects the columns; input->reader then gives the records. Whenever the
 * reader waits for more bytes the output is flushed first, so results never lag behind the input.
 * Prints what is wrong unless it returns EXIT_OK. */
exit_code input_open(struct input *input, const struct settings *settings, enum label_use label_use);
void input_close(struct input *input);

/* Prints "oif: file:line:column: message": what the reader reports, or what is wrong with a record's label. */
exit_code input_complain(const struct input *input, const oif_error *error);
exit_code input_complain_label(const struct input *input, const oif_record *record, const char *message);

#endif
