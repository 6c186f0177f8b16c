#include "stream_clock.h"

#include "front/advice/advice.h"
#include "front/text/cut.h"
#include "input_error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A pause is a gap, and a step back is a jump, when it is this many times the longest of the steps
 * before it. */
static const double gap_factor = 10;
enum {
    STEPS_BEFORE_A_GAP = 16,
    ROWS_BEFORE_COARSE = 10,
    ROWS_BEFORE_DOUBT = 100,
    REPORT_BYTES = INPUT_ERROR_TEXT_BYTES
};

stream_clock stream_clock_start(const byte_source *source, const char *column,
                                const oif_time_format *format)
{
    return (stream_clock){.source = source,
                          .input = source->name,
                          .column = column,
                          .format = *format,
                          .previous = NAN,
                          .latest = NAN};
}

/* ---- Rows ---- */

void stream_clock_set_key(stream_clock *clock, oif_text key)
{
    const size_t room = sizeof clock->first_key, kept = key.bytes < room ? key.bytes : room;
    if (!clock->has_first_key) {
        clock->has_first_key = true;
        clock->first_key_bytes = key.bytes;
        if (kept > 0)
            memcpy(clock->first_key, key.text, kept);
    }
    clock->is_other_key = clock->first_key_bytes != key.bytes ||
                          (kept > 0 && memcmp(clock->first_key, key.text, kept) != 0);
}

/* A late row is earlier than the one before by some steps; one that jumps back, by many. */
static void count_jump(stream_clock *clock, double back)
{
    if (clock->read <= STEPS_BEFORE_A_GAP || !(clock->longest_pause > 0) ||
        back <= gap_factor * clock->longest_pause)
        return;
    clock->jumps++;
    if (back > clock->longest_jump)
        clock->longest_jump = back;
}

static void count_order(stream_clock *clock, double seconds)
{
    clock->has_time_of_day = clock->has_time_of_day || fmod(seconds, 86400) != 0;
    if (clock->is_other_key)
        return;
    clock->ordered++;
    if (seconds < clock->previous) {
        clock->backward++;
        count_jump(clock, clock->previous - seconds);
    }
    clock->repeated += seconds == clock->previous;
    clock->previous = seconds;
}

/* Pauses are measured from the latest time, so a late row does not make one. */
static void count_gap(stream_clock *clock, double seconds, uint64_t line)
{
    double pause = seconds - clock->latest;
    if (isnan(clock->latest) || pause > 0)
        clock->latest = seconds;
    if (!(pause > clock->longest_pause))
        return;
    if (clock->read > STEPS_BEFORE_A_GAP && clock->longest_pause > 0 &&
        pause > gap_factor * clock->longest_pause) {
        clock->gaps++;
        clock->longest_gap = pause;
        clock->longest_gap_line = line;
    }
    clock->longest_pause = pause;
}

static void tell_guess(stream_clock *clock)
{
    char text[OIF_TIME_TEXT_BYTES];
    clock->is_told = true;
    oif_time_describe(&clock->format, text);
    note("%s: the times in '%s' are read as %s%s", clock->input, cut_name(clock->column).text, text,
         clock->format.form == OIF_TIME_FORM_SLASHED
             ? "; --time-format day-first reads the day first"
             : "");
}

/* Notes early that the column has no times so far: it is most likely the wrong one, and a
 * stream may have no end. */
static void tell_doubt(const stream_clock *clock)
{
    note("%s: no time in '%s' could be read so far, in %d rows: %s; name the column of the times "
         "with --time, or how they are written with --time-format",
         clock->input, cut_name(clock->column).text, ROWS_BEFORE_DOUBT,
         clock->first_unreadable.message);
}

/* ---- A clock that is too coarse ---- */

/* Only rows of the first key count, as rows of other keys repeat its times. */
static bool is_too_coarse_for_rates(const stream_clock *clock)
{
    return clock->has_rates && (!clock->has_keys || clock->has_first_key) &&
           clock->ordered >= ROWS_BEFORE_COARSE && clock->repeated > clock->ordered / 2;
}

static bool is_too_coarse(const stream_clock *clock)
{
    return is_too_coarse_for_rates(clock) ||
           (clock->read >= ROWS_BEFORE_COARSE && !clock->has_time_of_day &&
            clock->season_seconds > 0 && clock->season_seconds <= 86400);
}

/* Describes the clock that is too coarse. Returns the topic of the advice. */
static advice_topic describe_coarse(const stream_clock *clock, char text[STREAM_CLOCK_TEXT_BYTES])
{
    char repeated[GROUPED_TEXT_BYTES], ordered[GROUPED_TEXT_BYTES];
    const cut_text name = cut_name(clock->column);
    const bool is_for_rates = is_too_coarse_for_rates(clock);
    if (is_for_rates)
        snprintf(text, STREAM_CLOCK_TEXT_BYTES,
                 "times in '%s'%s: %s of %s repeat the one before, and a rate needs a step forward "
                 "in time, so those rates are missing",
                 name.text, clock->has_keys ? ", rows of the first key" : "",
                 grouped_text(clock->repeated, repeated), grouped_text(clock->ordered, ordered));
    else
        snprintf(text, STREAM_CLOCK_TEXT_BYTES,
                 "times in '%s' are dates without a time of day, which the season needs",
                 name.text);
    return is_for_rates && clock->has_time_of_day ? ADVICE_TIMES_REPEATED : ADVICE_TIMES_OF_DAY;
}

/* Notes it as soon as it is known, as a stream may have no end. */
static void tell_coarse(stream_clock *clock)
{
    char text[STREAM_CLOCK_TEXT_BYTES];
    advice given;
    clock->is_coarse_told = true;
    const advice_topic topic = describe_coarse(clock, text);
    note_because(advice_on(&given, topic, NULL), "%s: %s", clock->input, text);
}

/* ---- Reading ---- */

double stream_clock_read(stream_clock *clock, oif_text text, uint64_t line)
{
    double seconds = NAN;
    oif_error error;
    if (oif_time_parse(&clock->format, text.text, text.bytes, &seconds, &error) != OIF_OK) {
        error.line = line;
        clock->is_contradicted |= error.cause == OIF_CAUSE_DAY_ORDER;
        if (clock->unreadable++ == 0 || error.cause == OIF_CAUSE_DAY_ORDER)
            clock->first_unreadable = error;
        if (clock->unreadable == ROWS_BEFORE_DOUBT && clock->read == 0 && !clock->is_told)
            tell_doubt(clock);
        return NAN;
    }
    if (isnan(seconds)) {
        clock->missing++;
        return seconds;
    }
    if (clock->format.is_uncertain && !clock->is_told)
        tell_guess(clock);
    count_order(clock, seconds);
    count_gap(clock, seconds, line);
    clock->read++;
    if ((clock->read == ROWS_BEFORE_DOUBT || clock->ordered == ROWS_BEFORE_DOUBT) &&
        !clock->is_coarse_told && is_too_coarse(clock))
        tell_coarse(clock);
    return seconds;
}

/* ---- The report ---- */

typedef struct report {
    char text[REPORT_BYTES];
    size_t length;
} report;

static void add(report *to, const char *text)
{
    int printed = snprintf(to->text + to->length, sizeof to->text - to->length, "%s%s",
                           to->length > 0 ? ", " : "", text);
    if (printed > 0 && (size_t)printed < sizeof to->text - to->length)
        to->length += (size_t)printed;
}

static void add_count(report *to, uint64_t count, const char *one, const char *several)
{
    char text[128], number[GROUPED_TEXT_BYTES];
    if (count == 0)
        return;
    snprintf(text, sizeof text, "%s %s", grouped_text(count, number), count == 1 ? one : several);
    add(to, text);
}

/* "line 17", "line 17 of b.csv" */
enum { PLACE_TEXT_BYTES = 128 };

static const char *place_text(const stream_clock *clock, uint64_t line, char text[PLACE_TEXT_BYTES])
{
    const char *file = byte_source_place(clock->source, &line);
    bool is_one = clock->source->files.count <= 1;
    snprintf(text, PLACE_TEXT_BYTES, "line %llu%s%.*s", (unsigned long long)line,
             is_one ? "" : " of ", is_one ? 0 : (int)cut_bytes(file, strlen(file), 80), file);
    return text;
}

static void add_unreadable(report *to, const stream_clock *clock)
{
    char text[OIF_ERROR_MESSAGE_BYTES + PLACE_TEXT_BYTES + 64];
    const oif_error *first = &clock->first_unreadable;
    if (clock->unreadable == 0)
        return;
    add_count(to, clock->unreadable, "cannot be read", "cannot be read");
    char place[PLACE_TEXT_BYTES];
    snprintf(text, sizeof text, "the first on %s: %s", place_text(clock, first->line, place),
             first->message);
    add(to, text);
}

static const char *duration_text(double seconds, char text[32])
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{86400, "days"}, {3600, "h"}, {60, "min"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (seconds < 2 * units[i].seconds)
            continue;
        snprintf(text, 32, "%.1f %s", seconds / units[i].seconds, units[i].name);
        return text;
    }
    snprintf(text, 32, "%.3g s", seconds);
    return text;
}

static void add_gaps(report *to, const stream_clock *clock)
{
    char text[96 + PLACE_TEXT_BYTES], duration[32], place[PLACE_TEXT_BYTES];
    if (clock->gaps == 0)
        return;
    add_count(to, clock->gaps, "gap", "gaps");
    snprintf(text, sizeof text, "%s%s before %s", clock->gaps > 1 ? "the longest " : "",
             duration_text(clock->longest_gap, duration),
             place_text(clock, clock->longest_gap_line, place));
    add(to, text);
}

/* Rows that are much earlier begin something else; late ones are a little earlier. */
static const char *remedy_for(const stream_clock *clock)
{
    if (clock->has_keys || clock->backward == 0)
        return "";
    if (clock->backward > clock->read / 10)
        return "; sort the rows, oldest first, or name another column with --time";
    return clock->jumps > 1 && clock->jumps > clock->backward / 2
               ? "; if another stream begins there: --key COLUMN gives each a model of its own"
               : "";
}

/* Where many rows repeat a time, the clock is coarse, and nothing is wrong. */
void stream_clock_report(stream_clock *clock)
{
    report found = {.length = 0};
    if (!clock->is_coarse_told && is_too_coarse(clock))
        tell_coarse(clock);
    if (!clock->has_keys) {
        add_count(&found, clock->backward, "goes back", "go back");
        if (clock->repeated < clock->read / 10)
            add_count(&found, clock->repeated, "repeats the one before", "repeat the one before");
    }
    add_count(&found, clock->missing, "is missing", "are missing");
    add_gaps(&found, clock);
    add_unreadable(&found, clock);
    if (found.length > 0)
        note("%s: times in '%s': %s%s", clock->input, cut_name(clock->column).text, found.text,
             remedy_for(clock));
}

/* ---- For the service ---- */

static void add_jumps(report *to, uint64_t count, const char *one, const char *several,
                      double longest)
{
    char text[64], duration[32];
    if (count == 0)
        return;
    add_count(to, count, one, several);
    snprintf(text, sizeof text, "at most by %s", duration_text(longest, duration));
    add(to, text);
}

/* Where keys mix and the first one is unknown, the order of rows says nothing. */
static bool describe_jumps(const stream_clock *clock, char text[STREAM_CLOCK_TEXT_BYTES])
{
    report found = {.length = 0};
    if (!clock->has_keys || clock->has_first_key)
        add_jumps(&found, clock->jumps, "jumps back", "jump back", clock->longest_jump);
    add_jumps(&found, clock->gaps, "jumps ahead", "jump ahead", clock->longest_gap);
    if (found.length > 0)
        snprintf(text, STREAM_CLOCK_TEXT_BYTES,
                 "times in '%s': %.400s. Check the clock of the sender, unless rows were late or "
                 "none came.",
                 cut_name(clock->column).text, found.text);
    return found.length > 0;
}

bool stream_clock_problem(const stream_clock *clock, char text[STREAM_CLOCK_TEXT_BYTES])
{
    char unreadable[GROUPED_TEXT_BYTES], all[GROUPED_TEXT_BYTES];
    bool is_coarse = is_too_coarse(clock);
    advice given;
    if (is_coarse) {
        advice_on(&given, describe_coarse(clock, text), NULL);
        const size_t bytes = strlen(text);
        snprintf(text + bytes, STREAM_CLOCK_TEXT_BYTES - bytes, ". %s", given.service);
    } else if (clock->unreadable > 0)
        snprintf(text, STREAM_CLOCK_TEXT_BYTES, "times in '%s': %s of %s cannot be read: %s",
                 cut_name(clock->column).text, grouped_text(clock->unreadable, unreadable),
                 grouped_text(clock->unreadable + clock->read, all),
                 clock->first_unreadable.message);
    return is_coarse || clock->unreadable > 0 || describe_jumps(clock, text);
}
