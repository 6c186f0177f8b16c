#include "episode_text.h"

#include "front/text/cut.h"
#include "front/text/durations.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is cut of a longer key or reason. */
enum { KEY_BYTES = 100, REASON_BYTES = FIELD_TEXT_BYTES - 1 };

/* A time or, if it is unknown, the number of the row. */
static const char *when_text(double seconds, uint64_t row, char text[MOMENT_TEXT_BYTES])
{
    if (!isnan(seconds))
        return moment_text(seconds, text);
    snprintf(text, MOMENT_TEXT_BYTES, "row %" PRIu64, row);
    return text;
}

void episode_text(const episode_facts *episode, oif_text key, char text[EPISODE_TEXT_BYTES])
{
    char first[MOMENT_TEXT_BYTES], last[MOMENT_TEXT_BYTES];
    const char *reason = episode->reason && *episode->reason ? episode->reason : "unusual";
    when_text(episode->first_seconds, episode->first_row, first);
    when_text(episode->last_seconds, episode->last_row, last);
    snprintf(text, EPISODE_TEXT_BYTES,
             "%.*s%s%.*s %s %s%s%s, %" PRIu64 " row%s, severity %.10g (%s)",
             (int)cut_bytes(key.text, key.bytes, KEY_BYTES), key.text, key.bytes > 0 ? ": " : "",
             (int)cut_bytes(reason, strlen(reason), REASON_BYTES), reason,
             episode->is_over ? "from" : "since", first, episode->is_over ? " to " : "",
             episode->is_over ? last : "", episode->rows, episode->rows == 1 ? "" : "s",
             round(episode->peak_severity * 10) / 10, grade_word(episode->grade));
}

void silence_text(bool begins, double since, double seconds, char text[SILENCE_TEXT_BYTES])
{
    char moment[MOMENT_TEXT_BYTES], duration[DURATION_TEXT_BYTES];
    snprintf(text, SILENCE_TEXT_BYTES, "no row since %s, %s%s", moment_text(since, moment),
             begins ? "more than " : "", duration_text(seconds, duration));
}
