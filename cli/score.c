/* oif score: every row passes through as it came, with the score of its numbers added as the last field. It is
 * called `score` even where the input has a column of that name: the last one is ours. */
#include "input.h"
#include "progress.h"

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

static exit_code score_rows(struct input *input, oif_detector *detector)
{
    struct progress progress = progress_start(isatty(STDOUT_FILENO) ? 0 : input->total_bytes);
    oif_status status;
    oif_record record;
    oif_error error;
    double score;

    while ((status = oif_reader_next(input->reader, &record, &error)) == OIF_OK) {
        status = oif_detector_learn_score(detector, record.values, &score, &error);
        if (status != OIF_OK || !write_row(input, &record, score))
            break;
        progress_row(&progress, input->bytes_read);
    }
    progress_end(&progress);
    return status == OIF_OK || status == OIF_END ? EXIT_OK : input_complain(input, &error);
}

static exit_code run(const struct settings *settings)
{
    oif_detector *detector = NULL;
    struct input input;
    exit_code code = input_open(&input, settings, LABEL_IGNORED);

    if (code != EXIT_OK)
        return code;
    code = settings_make_detector(settings, input.feature_count, &detector);
    if (code == EXIT_OK && write_header(&input))
        code = score_rows(&input, detector);
    oif_detector_free(detector);
    input_close(&input);
    return code;
}

static const struct option options[] = {
    {"label", "COL", "a column to keep out of the numbers, such as the truth", set_label},
    INPUT_OPTIONS,
};

const struct command score_command = {
    .name = "score",
    .summary = "give each row of a CSV stream its anomaly score: the higher, the more anomalous",
    .usage = "score [OPTION...] [FILE|-]",
    .examples = "  oif score readings.csv > scored.csv        rows as they came, with a score added\n"
                "  tail -f readings.csv | oif score           each row is scored as it arrives\n"
                "  oif score --exclude time,host flows.csv    columns that are not numbers stay out\n"
                "  oif score --label fault --seed 7 pump.csv  the truth stays out; another forest\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .takes_file = true,
    .run = run,
};
