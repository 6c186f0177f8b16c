/* The output of the program: results on stdout, messages on stderr, and the exit code.
 *
 * A result is never lost silently. The first write that fails is remembered, every later one is
 * refused, and output_finish turns the failure into a message and an exit code. A reader that
 * has read enough and closed its end of the pipe (`oif score big.csv | head`) is not a failure:
 * the program just ends. */
#ifndef OIF_FRONT_OUTPUT_H
#define OIF_FRONT_OUTPUT_H

#include "oif_rows.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED = 1, /* because of the input, the output or the machine */
    EXIT_USAGE = 2,  /* the command line asks for something that does not exist */
    EXIT_ALERT = 3   /* --fail-on-alert, and there was one */
} exit_code;

/* To be called on the main thread before anything is written. Each thread has its own output;
 * on other threads it is not buffered unless it is diverted. */
void output_start(void);

/* These return false once stdout is closed or has failed; the caller then just stops. */
bool output_write(const char *bytes, size_t count);
bool output_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool output_flush(void);
bool output_is_open(void);

static inline bool output_text(const char *text)
{
    return output_write(text, strlen(text));
}

/* A number with as many digits as it needs; JSON has null for those that are not finite. */
static inline bool output_number(double number)
{
    char text[OIF_NUMBER_TEXT_BYTES];
    return output_write(text, oif_number_format(number, text));
}

static inline bool output_json_number(double number)
{
    return isfinite(number) ? output_number(number) : output_text("null");
}

/* Diverts the output of this thread to memory until output_diverted returns it: to be freed,
 * without a final NUL; NULL if out of memory, or if nothing was written. Diversions nest up to
 * OUTPUT_DIVERSIONS_MAX deep. */
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
 * in it are untrusted, so control characters, which a terminal would obey, are escaped. */
exit_code complain(exit_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Why there is a message, and what to do about it: as the user of a shell does it, which ends the
 * message, and as a client of the service does it, in whole sentences. NULL: nothing is known. */
typedef struct complaint_reason {
    oif_cause cause; /* of the library's error; OIF_CAUSE_NONE for others */
    const char *shell, *service;
    bool is_conversion; /* the input has to be converted first */
} complaint_reason;

exit_code complain_because(const complaint_reason *reason, exit_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for messages that are not failures. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void note_because(const complaint_reason *reason, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum { COMPLAINT_BYTES = 1024, REMEDY_BYTES = 256, NOTES_BYTES_MAX = 1 << 14 };

typedef struct complaint {
    char text[COMPLAINT_BYTES]; /* "": there was none */
    oif_cause cause;
    char remedy[REMEDY_BYTES]; /* for the service; "": none */
    bool is_conversion;
} complaint;

/* Captures the messages of complain and note on this thread until messages_captured returns
 * them: the notes, one per line, to be freed; NULL if there are none. `first` becomes the first
 * complaint. Captured for the service, messages say what its clients can do; else they are as the
 * shell shows them. */
void messages_capture(void);
void messages_capture_for_service(void);
char *messages_captured(complaint *first);

/* From now on notes are not printed; complaints are. */
void output_silence_notes(void);

/* While a live view covers the terminal, messages are held back, and the view can show the
 * latest one: NULL if there is none. Releasing them prints them. */
void output_hold_messages(void);
const char *output_held_message(void);
void output_release_messages(void);

/* 20160 -> "20,160". */
enum { GROUPED_TEXT_BYTES = 27 };
const char *grouped_text(uint64_t number, char text[GROUPED_TEXT_BYTES]);

#endif
