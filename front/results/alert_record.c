#include "alert_record.h"

#include "front/text/byte_table.h"
#include "front/text/cut.h"
#include "front/text/durations.h"
#include "front/text/quoting.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WHEN_TEXT_BYTES = 2 * MOMENT_TEXT_BYTES, SENTENCE_BYTES = FIELD_TEXT_BYTES + 512 };

static uint64_t series_of(uint64_t number, oif_text key)
{
    return byte_hash(BYTE_HASH_START + number, key.text, key.bytes);
}

uint64_t alert_record_series(const row_verdict *verdict, oif_text key)
{
    return series_of(verdict->episode.number, key);
}

uint64_t alert_record_silence_series(oif_text key)
{
    return series_of(UINT64_MAX, key);
}

/* A time or, if it is unknown, `before` and the number of the row. */
static const char *when_text(double seconds, uint64_t row, const char *before,
                             char text[WHEN_TEXT_BYTES])
{
    char moment[MOMENT_TEXT_BYTES];
    if (isnan(seconds))
        snprintf(text, WHEN_TEXT_BYTES, "%s%" PRIu64, before, row);
    else
        snprintf(text, WHEN_TEXT_BYTES, "%s", moment_text(seconds, moment));
    return text;
}

static void write_when(const char *name, double seconds, uint64_t row)
{
    char text[WHEN_TEXT_BYTES];
    const char *quote = isnan(seconds) ? "" : "\"";
    output_print(",\"%s\":%s%s%s", name, quote, when_text(seconds, row, "", text), quote);
}

static void write_string(const char *name, const char *text)
{
    output_print(",\"%s\":", name);
    quoting_write_json(text, strlen(text));
}

/* "bytes high 71%": of this row when the episode begins, of its worst one when it ends. */
static void reason_text(const row_verdict *verdict, bool begins, char text[FIELD_TEXT_BYTES])
{
    if (begins)
        result_fields_reasons_text(verdict, text, FIELD_TEXT_BYTES);
    else
        result_fields_episode_text(verdict->fields, &verdict->episode, text);
    if (!*text)
        snprintf(text, FIELD_TEXT_BYTES, "unusual");
}

static void write_sentence(const row_verdict *verdict, bool begins, oif_text key,
                           const char *reason)
{
    const oif_episode_info *episode = &verdict->episode;
    uint64_t last_row = episode->first_row + episode->rows - 1;
    char text[SENTENCE_BYTES], first[WHEN_TEXT_BYTES], last[WHEN_TEXT_BYTES];
    int key_bytes = (int)cut_bytes(key.text, key.bytes, 100);
    when_text(episode->first_seconds, episode->first_row, "row ", first);
    when_text(episode->last_seconds, last_row, "row ", last);
    if (begins)
        snprintf(text, sizeof text, "%.*s%s%s since %s (%s)", key_bytes, key.text,
                 key.bytes > 0 ? ": " : "", reason, first, grade_word(episode->peak_grade));
    else
        snprintf(text, sizeof text, "%.*s%s%s is over: %" PRIu64 " rows from %s to %s (%s)",
                 key_bytes, key.text, key.bytes > 0 ? ": " : "", reason, episode->rows, first, last,
                 grade_word(episode->peak_grade));
    write_string("text", text);
}

static void write_key(oif_text key)
{
    output_print(",\"key\":");
    if (key.text)
        quoting_write_json(key.text, key.bytes);
    else
        output_print("null");
}

char *alert_record_make(const row_writer *writer, const oif_record *record,
                        const row_verdict *verdict, oif_text key, size_t *bytes)
{
    const oif_episode_info *episode = &verdict->episode;
    bool begins = verdict->result.episode == OIF_EPISODE_BEGINS;
    char reason[FIELD_TEXT_BYTES];
    reason_text(verdict, begins, reason);
    output_divert();
    output_print("{\"episode\":\"%s\",\"id\":%" PRIu64, begins ? "begins" : "ends",
                 episode->number);
    write_key(key);
    write_when("start", episode->first_seconds, episode->first_row);
    if (begins)
        output_print(",\"end\":null");
    else
        write_when("end", episode->last_seconds, episode->first_row + episode->rows - 1);
    output_print(",\"rows\":%" PRIu64 ",\"anomalies\":%" PRIu64 ",\"grade\":\"%s\",\"peak\":%.2f",
                 episode->rows, episode->anomalies, grade_word(episode->peak_grade),
                 episode->peak_severity);
    write_string("reason", reason);
    write_sentence(verdict, begins, key, reason);
    output_print(",\"row\":");
    row_writer_object(writer, record);
    output_print("}\n");
    return output_diverted(bytes);
}

char *alert_record_of_silence(bool begins, oif_text key, double since, double seconds,
                              const char *sentence, size_t *bytes)
{
    output_divert();
    output_print("{\"silence\":\"%s\"", begins ? "begins" : "ends");
    write_key(key);
    write_when("start", since, 0);
    if (begins)
        output_print(",\"end\":null");
    else
        write_when("end", since + seconds, 0);
    output_print(",\"seconds\":");
    output_number(seconds);
    write_string("reason", "silence");
    write_string("text", sentence);
    output_print("}\n");
    return output_diverted(bytes);
}
