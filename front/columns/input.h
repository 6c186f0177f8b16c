/* Rows from files, stdin or memory: the bytes, the reader of their format and the chosen
 * columns. */
#ifndef OIF_FRONT_INPUT_H
#define OIF_FRONT_INPUT_H

#include "columns.h"
#include "front/formats/formats.h"
#include "front/input/bad_rows.h"
#include "front/input/byte_source.h"

typedef struct run_input {
    byte_source source;
    translator *translator; /* of the source; NULL: it is CSV or NDJSON */
    oif_format format;
    oif_reader *reader; /* gives the records */
    input_columns columns;
    uint64_t comma_line; /* of the first record that was read with decimal commas; 0: none yet */
} run_input;

/* Opens the files that the settings name. `known` is the pipeline whose columns it has to have, or
 * NULL. `bad` gets the lines at the start that are neither header nor row; where it is NULL such
 * a line is a failure. Prints what is wrong, and the bad lines, unless it returns EXIT_OK. */
exit_code input_open_reader(run_input *input, const run_settings *settings,
                            const oif_pipeline *known, bad_rows *bad);

/* The same for bytes in memory; `name` is for messages. */
exit_code input_open_memory(run_input *input, const run_settings *settings,
                            const oif_pipeline *known, bad_rows *bad, const char *name,
                            byte_memory *memory);

/* Chooses the columns of an input that was opened, those of `known` unless it is NULL. For that
 * it looks at the first rows, and waits for one. Prints what is wrong and closes the input unless
 * it returns EXIT_OK. */
exit_code input_choose_columns(run_input *input, const run_settings *settings, label_use use,
                               const oif_pipeline *known, first_rows_wait wait);

/* The same by names alone, without a look at any row: all rows of `known` had such columns. */
exit_code input_choose_known_columns(run_input *input, const run_settings *settings,
                                     const oif_pipeline *known);

/* Opens the files of the settings and chooses columns by the first rows. */
exit_code input_open(run_input *input, const run_settings *settings, label_use use,
                     const oif_pipeline *known, bad_rows *bad);
void input_close(run_input *input);

/* Whether the comma was the decimal sign when a record was read. */
bool input_has_decimal_commas(const run_input *input, const oif_record *record);

/* Takes what the format of another program says about its columns, where no option does. */
void input_take_implied(const run_input *input, run_settings *settings);

/* Prints "oif: file:line:column: message" for an error of the reader. */
exit_code input_complain(const run_input *input, const oif_error *error);

/* The column whose value an error of the reader calls text; the number of columns if it is about
 * something else. */
size_t input_text_column(const run_input *input, const oif_error *error);

#endif
