/* Access logs of web servers, in the common and the combined format:
 *
 *     10.0.0.1 - - [18/Nov/2026:02:57:29 +0000] "GET / HTTP/1.1" 200 512 "-" "curl/8" 0.004
 *
 * become one row per minute, or --every: the requests, the shares of 4xx and 5xx, the bytes, and
 * the mean of the last field if it is a number (nginx's $request_time, Apache's %D). A row is
 * printed when a line of a later minute comes. Lines of an earlier one count for the current row.
 * Minutes without requests are rows too: silence is what an outage looks like. The minute in which
 * the log ends is not over, and is left out if there are others. */
#include "formats.h"

#include "front/text/durations.h"

#include <inttypes.h>
#include <math.h>

enum { GAP_ROWS_MAX = 10080 }; /* a week of minutes */

typedef struct log_state {
    oif_time_format times;
    bool is_begun, has_durations;
    double row; /* since 1970, in units of the rows */
    uint64_t requests, client_errors, server_errors, timed;
    double bytes, duration;
    uint64_t line; /* of the last request */
    uint64_t rows_printed;
} log_state;

/* What a line says. */
typedef struct log_request {
    double seconds, bytes, duration; /* NaN: no duration */
    int status;
} log_request;

/* ---- A line ---- */

/* The text between two bytes from *at on, which is then behind them. */
static bool next_between(const char **at, const char *end, char open, char close, oif_text *text)
{
    const char *begin = memchr(*at, open, (size_t)(end - *at)), *stop = NULL;
    for (const char *next = begin ? begin + 1 : end; next < end && !stop; next++) {
        if (*next == '\\')
            next++;
        else if (*next == close)
            stop = next;
    }
    if (!stop)
        return false;
    *text = (oif_text){begin + 1, (size_t)(stop - begin - 1)};
    *at = stop + 1;
    return true;
}

/* The last word of the line, if it is a number. */
static double last_number(const char *at, const char *end)
{
    double number;
    while (end > at && end[-1] == ' ')
        end--;
    const char *begin = end;
    while (begin > at && begin[-1] != ' ')
        begin--;
    if (begin + 2 < end && *begin == '"' && end[-1] == '"') {
        begin++;
        end--;
    }
    return begin < end && oif_number_parse(begin, end, &number) == end && isfinite(number) ? number
                                                                                           : NAN;
}

static bool parse_request(oif_text line, oif_time_format *times, log_request *request)
{
    const char *at = line.text, *end = line.text + line.bytes;
    oif_text time, quoted, words[3];
    if (!next_between(&at, end, '[', ']', &time) || !next_between(&at, end, '"', '"', &quoted) ||
        oif_time_parse(times, time.text, time.bytes, &request->seconds, NULL) != OIF_OK ||
        !isfinite(request->seconds) || times->form != OIF_TIME_FORM_COMMON_LOG)
        return false;
    size_t count = translator_words((oif_text){at, (size_t)(end - at)}, words, 3);
    if (count < 2 || words[0].bytes != 3)
        return false;
    double status;
    const char *status_end = words[0].text + 3, *bytes_end = words[1].text + words[1].bytes;
    if (oif_number_parse(words[0].text, status_end, &status) != status_end ||
        !(status >= 100 && status <= 999))
        return false;
    request->status = (int)status;
    if (oif_number_parse(words[1].text, bytes_end, &request->bytes) != bytes_end ||
        !isfinite(request->bytes))
        request->bytes = 0; /* - */
    request->duration = count == 3 ? last_number(words[2].text, end) : NAN;
    return true;
}

static bool recognise(const char *text, size_t bytes)
{
    const char *newline = memchr(text, '\n', bytes), *bracket = memchr(text, '[', bytes);
    log_request request;
    oif_time_format times = {.form = OIF_TIME_FORM_NONE};
    return newline && bracket && bracket < newline && bracket > text &&
           parse_request((oif_text){text, (size_t)(newline - text)}, &times, &request);
}

/* ---- Rows ---- */

static double seconds_of_row(const translator *by)
{
    return by->options.every > 0 ? by->options.every : 60;
}

static void print_header(translator *by)
{
    const log_state *state = by->state;
    translator_begin_row(by, by->line);
    output_print("time,requests,share_4xx,share_5xx,bytes%s",
                 state->has_durations ? ",mean_duration" : "");
    translator_end_row(by);
    snprintf(by->implied.time, sizeof by->implied.time, "time");
}

static void print_share(uint64_t part, uint64_t all)
{
    output_text(",");
    if (all > 0)
        output_number((double)part / (double)all);
}

/* Prints the current row and begins the next one. */
static void print_row(translator *by)
{
    log_state *state = by->state;
    char moment[MOMENT_TEXT_BYTES];
    translator_begin_row(by, state->line);
    output_print("%s,%" PRIu64, moment_text(state->row * seconds_of_row(by), moment),
                 state->requests);
    print_share(state->client_errors, state->requests);
    print_share(state->server_errors, state->requests);
    output_text(",");
    output_number(state->bytes);
    output_text(state->has_durations ? "," : "");
    if (state->has_durations && state->timed > 0)
        output_number(state->duration / (double)state->timed);
    translator_end_row(by);
    state->rows_printed++;
    state->requests = state->client_errors = state->server_errors = state->timed = 0;
    state->bytes = state->duration = 0;
    state->row++;
}

static void advance_to(translator *by, double row)
{
    log_state *state = by->state;
    print_row(by);
    if (row - state->row > GAP_ROWS_MAX) {
        char gap[DURATION_TEXT_BYTES];
        translator_note(by, "no requests for %s; rows without requests are left out there",
                        duration_text((row - state->row) * seconds_of_row(by), gap));
        state->row = row;
    }
    while (state->row < row)
        print_row(by);
}

static void take_line(translator *by, oif_text line)
{
    log_state *state = by->state;
    log_request request;
    if (line.bytes == 0)
        return;
    if (!parse_request(line, &state->times, &request)) {
        if (state->is_begun)
            translator_bad_row(by);
        else /* a row would be taken for the header */
            translator_note(by, "this is not a line of an access log, and is left out");
        return;
    }
    double row = floor(request.seconds / seconds_of_row(by));
    if (!state->is_begun) {
        state->is_begun = true;
        state->has_durations = !isnan(request.duration);
        state->row = row;
        print_header(by);
    }
    if (row > state->row)
        advance_to(by, row);
    state->line = by->line;
    state->requests++;
    state->client_errors += request.status / 100 == 4;
    state->server_errors += request.status / 100 == 5;
    state->bytes += request.bytes;
    state->timed += isnan(request.duration) ? 0 : 1;
    state->duration += isnan(request.duration) ? 0 : request.duration;
}

static void take_end(translator *by)
{
    const log_state *state = by->state;
    if (state->is_begun && state->rows_printed == 0)
        print_row(by);
}

const translation format_access_log = {
    .word = "access-log",
    .what = "an access log",
    .writes = OIF_FORMAT_CSV,
    .delimiter = ',',
    .state_bytes = sizeof(log_state),
    .recognise = recognise,
    .line = take_line,
    .end = take_end,
    .bad_line = "this is not a line of an access log in the common or combined format"};
