/* What the program says: results on stdout, complaints on stderr, and the code it exits with.
 *
 * A result is never lost silently. The first write that fails is remembered, every later one is
 * refused, and output_finish turns the failure into a message and an exit code. A reader that
 * has seen enough and closed its end of the pipe (`oif score big.csv | head`) is not a failure:
 * the program just ends. */
#ifndef OIF_CLI_OUTPUT_H
#define OIF_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED = 1, /* because of the input, the output or the machine */
    EXIT_USAGE = 2,  /* the command line asks for something that does not exist */
    EXIT_ALERT = 3   /* --fail-on-alert, and there was one */
} exit_code;

/* Before anything is written, on the main thread. What is written on other threads goes out without
 * waiting for more, unless they divert it: each thread has an output of its own. */
void output_start(void);

/* These return false once stdout takes no more; the caller then just stops. */
bool output_write(const char *bytes, size_t count);
bool output_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool output_flush(void);
bool output_is_open(void);

/* From now on what this thread writes is kept in memory, until output_diverted returns it: to be
 * freed, without a final NUL; NULL if memory was short, or if nothing was written. May be begun
 * again meanwhile, up to OUTPUT_DIVERSIONS_MAX times; the last one ends first. */
enum { OUTPUT_DIVERSIONS_MAX = 4 };
void output_divert(void);
char *output_diverted(size_t *bytes);

/* Writes what is left and closes stdout. Returns the program's exit code: `code`, unless
 * writing failed. */
exit_code output_finish(exit_code code);

/* A control character as JSON writes it: \u001b. */
enum { ESCAPE_BYTES = 7 };
static inline const char *escape_control(unsigned char c, char text[ESCAPE_BYTES])
{
    snprintf(text, ESCAPE_BYTES, "\\u%04x", c);
    return text;
}

/* Prints "oif: ..." on stderr, after all results before it, and returns `code`. Names and paths
 * in it come from anywhere, so control characters, which a terminal would obey, are escaped. */
exit_code complain(exit_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same for what is not a failure. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on what complain and note say on this thread is kept, until messages_captured returns
 * it: the notes, a line each, to be freed; NULL if there are none. `complaint` becomes the first
 * complaint, "" if there is none. */
enum { COMPLAINT_BYTES = 1024, NOTES_BYTES_MAX = 1 << 14 };
void messages_capture(void);
char *messages_captured(char complaint[COMPLAINT_BYTES]);

/* While a view covers the terminal, messages for it are kept, and the latest can be shown in the
 * view: NULL if there is none. They are printed when they are released. */
void output_hold_messages(void);
const char *output_held_message(void);
void output_release_messages(void);

/* 20160 -> "20,160". */
enum { GROUPED_TEXT_BYTES = 27 };
const char *grouped_text(uint64_t number, char text[GROUPED_TEXT_BYTES]);

#endif
