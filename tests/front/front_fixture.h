/* What the functions of front/ write and report, captured to be compared; and rows from memory,
 * opened with the options of oif score. */
#ifndef OIF_TESTS_FRONT_FIXTURE_H
#define OIF_TESTS_FRONT_FIXTURE_H

#include "front/columns/input.h"
#include "front/columns/row_source.h"
#include "front/options/command.h"
#include "front/text/output.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- Output and messages ---- */

/* What was written since output_divert. Valid until the next call. */
static inline const char *take_written(void)
{
    static char written[1 << 16];
    size_t bytes = 0;
    char *text = output_diverted(&bytes);
    assert_true(bytes < sizeof written);
    if (bytes > 0)
        memcpy(written, text, bytes);
    written[bytes] = '\0';
    free(text);
    return written;
}

/* The complaint and the notes since messages_capture. */
static complaint said;
static char noted[NOTES_BYTES_MAX];

static inline void take_messages(void)
{
    said = (complaint){.text = ""};
    char *notes = messages_captured(&said);
    snprintf(noted, sizeof noted, "%s", notes ? notes : "");
    free(notes);
}

static inline void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in '%s'", part, text);
}

static inline oif_text text_of(const char *text)
{
    return (oif_text){text, strlen(text)};
}

/* ---- Rows ---- */

enum { ARGUMENTS_MAX = 16 };

typedef struct memory_rows {
    char *arguments[ARGUMENTS_MAX + 1];
    run_settings settings;
    byte_memory memory;
    bad_rows bad;
    run_input input;
} memory_rows;

static inline void set_options(memory_rows *rows, const char *const arguments[])
{
    help_kind help;
    for (size_t i = 0; arguments[i]; i++) {
        assert_true(i < ARGUMENTS_MAX);
        rows->arguments[i] = (char *)(uintptr_t)arguments[i]; /* they are not changed */
    }
    assert_int_equal(command_parse(&score_command, rows->arguments, &rows->settings, &help),
                     EXIT_OK);
}

/* Opens a text with options of oif score. Notes are in `noted`. */
static inline exit_code try_rows(memory_rows *rows, oif_text text, const char *const arguments[])
{
    *rows = (memory_rows){.memory = {.pieces = {text}}};
    set_options(rows, arguments);
    messages_capture();
    exit_code code =
        input_open_memory(&rows->input, &rows->settings, NULL, &rows->bad, "rows", &rows->memory);
    if (code == EXIT_OK)
        code = input_choose_columns(&rows->input, &rows->settings, LABEL_IGNORED, NULL,
                                    (first_rows_wait){NULL, NULL});
    take_messages();
    return code;
}

#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_OPTIONS ((const char *const[]){NULL})

static inline void open_rows(memory_rows *rows, const char *text, const char *const arguments[])
{
    if (try_rows(rows, text_of(text), arguments) != EXIT_OK)
        fail_msg("%s", said.text);
}

static inline void close_rows(memory_rows *rows)
{
    input_close(&rows->input);
    settings_close(&rows->settings);
}

/* Valid until the next one. */
static inline oif_record next_record(memory_rows *rows)
{
    oif_record record;
    oif_error error;
    if (row_source_next(&rows->input, BAD_ROW_FAILS, &rows->bad, &record, &error) != OIF_OK)
        fail_msg("%s", error.message);
    return record;
}

#endif
