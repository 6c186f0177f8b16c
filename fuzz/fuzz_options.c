/* Any words as a command line: the first byte chooses the command, the others are its arguments,
 * separated by newlines or NULs. Rejected arguments get one complaint; accepted ones are in their
 * range, and the same every time.
 *
 * The program's own objects are linked, except output.c, whose functions are here. */
#include "cli/commands/commands.h"
#include "cli/eval/eval_command.h"
#include "cli/state/state_commands.h"
#include "front/options/command.h"
#include "fuzz_input.h"

#include <stdarg.h>

enum { MAX_TEXT = 2048, MAX_WORDS = 64 };

/* ---- Output of the program ---- */

static struct {
    unsigned complaints, printed_bytes, runs;
    run_settings settings; /* of the last run */
} said;

void output_start(void)
{
}

bool output_write(const char *bytes, size_t count)
{
    (void)bytes;
    said.printed_bytes += (unsigned)count;
    return true;
}

bool output_print(const char *format, ...)
{
    char text[MAX_TEXT];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    require(length >= 0);
    said.printed_bytes += (unsigned)length;
    return true;
}

bool output_flush(void)
{
    return true;
}

void output_divert(void)
{
}

void output_silence_notes(void)
{
}

char *output_diverted(size_t *bytes)
{
    *bytes = 0;
    return NULL;
}

bool output_is_open(void)
{
    return true;
}

exit_code output_finish(exit_code code)
{
    return code;
}

static void hear(exit_code code, const char *format, va_list arguments)
{
    char text[MAX_TEXT];
    int length = vsnprintf(text, sizeof text, format, arguments);
    require(code == EXIT_USAGE && length > 0);
    said.complaints++;
}

exit_code complain(exit_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    hear(code, format, arguments);
    va_end(arguments);
    return code;
}

exit_code complain_because(const complaint_reason *reason, exit_code code, const char *format, ...)
{
    va_list arguments;
    (void)reason;
    va_start(arguments, format);
    hear(code, format, arguments);
    va_end(arguments);
    return code;
}

void note(const char *format, ...)
{
    (void)format;
    require(false);
}

void note_because(const complaint_reason *reason, const char *format, ...)
{
    (void)reason;
    (void)format;
    require(false);
}

void output_hold_messages(void)
{
}

const char *output_held_message(void)
{
    return NULL;
}

void output_release_messages(void)
{
}

const char *grouped_text(uint64_t number, char text[GROUPED_TEXT_BYTES])
{
    snprintf(text, GROUPED_TEXT_BYTES, "%llu", (unsigned long long)number);
    return text;
}

/* ---- Commands that only check their settings ---- */

static const command_entry *const commands[] = {&score_command,   &eval_command, &size_command,
                                                &inspect_command, &demo_command, &feedback_command};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* Every value is allowed. */
static void require_in_range(const oif_params *params)
{
    oif_params copy = *params;
    for (size_t i = 0; i < params->table->param_count; i++)
        require(oif_params_set(&copy, params->table->params[i].name, params->values[i], NULL) ==
                OIF_OK);
}

static exit_code look(const run_settings *settings)
{
    require_in_range(&settings->params);
    require_in_range(&settings->options);
    require(settings->detectors);
    require(settings->rows_between_saves == 0 || settings->seconds_between_saves == 0);
    require(!(settings->seconds_between_saves < 0) &&
            settings->score.on_bad_row <= BAD_ROW_IS_MENDED);
    require(settings->score.output <= OUTPUT_LOGFMT && settings->format >= 0 &&
            settings->format <= 9);
    require(settings->score.digits <= 17);
    said.settings = *settings;
    said.runs++;
    return EXIT_OK;
}

static exit_code run_command(const command_entry *command, char **words)
{
    said.complaints = said.printed_bytes = said.runs = 0;
    exit_code code = command_run(command, look, words);
    if (code == EXIT_OK)
        require(said.complaints == 0 && (said.runs == 1) == (said.printed_bytes == 0));
    else
        require(code == EXIT_USAGE && said.complaints == 1 && said.runs == 0 &&
                said.printed_bytes == 0);
    return code;
}

/* ---- Words ---- */

/* Splits the text into words; returns how many. The last pointer is NULL. */
static size_t cut(char *text, size_t size, char *words[MAX_WORDS + 1])
{
    size_t count = 0;
    char *end = text + size;
    while (text < end && count < MAX_WORDS) {
        size_t length = strcspn(text, "\n");
        words[count++] = text;
        text[length] = '\0';
        text += length + 1;
    }
    words[count] = NULL;
    return count;
}

/* The settings point into the text, which is the same for all runs. Lists that were given in parts
 * are freed by now. */
static void require_same_settings(const run_settings *a, const run_settings *b)
{
    require(memcmp(a->params.values, b->params.values, sizeof a->params.values) == 0);
    require(memcmp(a->options.values, b->options.values, sizeof a->options.values) == 0);
    require(memcmp(a->is_given, b->is_given, sizeof a->is_given) == 0);
    require(a->file == b->file && a->label == b->label && a->state == b->state &&
            !a->columns == !b->columns);
    require(a->rows_between_saves == b->rows_between_saves && a->score.rows == b->score.rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[MAX_TEXT + 1], *words[MAX_WORDS + 1];
    if (size < 1 || size > MAX_TEXT)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    cut(text, size - 1, words);
    const command_entry *command = commands[data[0] % COMMANDS];
    exit_code code = run_command(command, words);
    run_settings first = said.settings;
    unsigned runs = said.runs;
    require(run_command(command, words) == code && said.runs == runs);
    if (runs > 0)
        require_same_settings(&first, &said.settings);
    return 0;
}
