/* oif score: every row passes through as it came, with the score of its numbers added as the last field. It is
 * called `score` even where the input has a column of that name: the last one is ours. */
#include "input.h"
#include "progress.h"
#include "stop.h"

#include <string.h>
#include <unistd.h>

/* Ends a line: the delimiter, one more field, and the line end of the input. */
static bool write_field(const struct input *input, const char *field, size_t field_bytes)
{
    char delimiter = oif_reader_delimiter(input->reader);

    return output_write(&delimiter, 1) && output_write(field, field_bytes) &&
           output_write(input->line_end, strlen(input->line_end));
}

static bool write_header(const struct input *input)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF", name[] = "score";
    size_t header_bytes;
    const char *header = oif_reader_header_text(input->reader, &header_bytes);

    if (input->byte_order_mark_bytes == 3 && !output_write(byte_order_mark, 3))
        return false;
    if (!oif_reader_has_header(input->reader))
        return true;
    return output_write(header, header_bytes) && write_field(input, name, strlen(name));
}

static bool write_row(const struct input *input, const oif_record *record, double score)
{
    char text[OIF_NUMBER_TEXT_BYTES];
    size_t text_bytes = oif_number_format(score, text);

    return output_write(record->text, record->text_bytes) && write_field(input, text, text_bytes);
}

static exit_code score_rows(struct input *input, struct state *state)
{
    struct progress progress = progress_start(isatty(STDOUT_FILENO) ? 0 : input->total_bytes);
    oif_status status;
    oif_record record;
    oif_error error;
    double score;

    while ((status = oif_reader_next(input->reader, &record, &error)) == OIF_OK) {
        status = oif_detector_learn_score(state->detector, record.values, &score, &error);
        if (status != OIF_OK)
            break;
        state_row(state);
        if (!write_row(input, &record, score) || stop_requested())
            break;
        if (state_is_due(state)) {
            progress_end(&progress);
            state_save(state);
        }
        progress_row(&progress, input->bytes_read);
    }
    progress_end(&progress);
    return status == OIF_OK || status == OIF_END || stop_requested() ? EXIT_OK
                                                                     : input_complain(input, &error);
}

static exit_code score_input(const struct settings *settings, struct state *state)
{
    struct input input;
    exit_code code = input_open(&input, settings, LABEL_IGNORED);

    if (code != EXIT_OK)
        return stop_requested() ? EXIT_OK : code;
    input.state = state;
    code = state_start(state, settings, input.feature_count);
    if (code == EXIT_OK && write_header(&input))
        code = score_rows(&input, state);
    input_close(&input);
    return code;
}

static exit_code run(const struct settings *settings)
{
    struct state state;
    exit_code code = state_open(&state, settings);

    if (code != EXIT_OK)
        return code;
    if (settings->state)
        stop_catch_signals();
    return state_close(&state, score_input(settings, &state));
}

static const char *set_state(struct settings *settings, const char *value)
{
    settings->state = value;
    return NULL;
}

/* "10000", "30s", "5m" */
static const char *set_save_every(struct settings *settings, const char *value)
{
    static const char expected[] = "rows such as 10000, or a time such as 30s or 5m";
    const char *end = value + strlen(value), *unit;
    double number;

    settings->rows_between_saves = 0;
    settings->seconds_between_saves = 0;
    unit = oif_number_parse(value, end, &number);
    if (!unit || !(number > 0 && number <= 1e12))
        return expected;
    if (strcmp(unit, "s") == 0)
        settings->seconds_between_saves = number;
    else if (strcmp(unit, "m") == 0)
        settings->seconds_between_saves = number * 60;
    else if (unit == end && number == (double)(uint64_t)number)
        settings->rows_between_saves = (uint64_t)number;
    else
        return expected;
    return NULL;
}

static const struct option options[] = {
    {"label", "COL", "a column to keep out of the numbers, such as the truth", set_label},
    {"state", "FILE", "go on from what this file holds, and save to it at the end", set_state},
    {"save-every", "N|Ns|Nm", "save every N rows, seconds or minutes as well", set_save_every},
    INPUT_OPTIONS,
};

const struct command score_command = {
    .name = "score",
    .summary = "give each row of a CSV stream its anomaly score: the higher, the more anomalous",
    .usage = "score [OPTION...] [FILE|-]",
    .examples = "  oif score readings.csv > scored.csv        rows as they came, with a score added\n"
                "  tail -f readings.csv | oif score           each row is scored as it arrives\n"
                "  oif score --exclude time,host flows.csv    columns that are not numbers stay out\n"
                "  oif score --label fault --seed 7 pump.csv  the truth stays out; another forest\n"
                "  tail -f readings.csv | oif score --state pump.oif --save-every 30s\n"
                "                                             goes on after a restart, bit for bit\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .takes_file = true,
    .takes_params = true,
    .run = run,
};
