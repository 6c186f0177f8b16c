#include "alert_record.h"

#include "episode_text.h"
#include "front/text/byte_table.h"
#include "front/text/write_json.h"
#include "record_parts.h"
#include "result_parts.h"

#include <inttypes.h>
#include <stdio.h>

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

static void write_sentence(const oif_episode_info *episode, bool begins, oif_text key,
                           const char *reason)
{
    const episode_facts facts = {.reason = reason,
                                 .first_seconds = episode->first_seconds,
                                 .last_seconds = episode->last_seconds,
                                 .first_row = episode->first_row,
                                 .last_row = episode->first_row + episode->rows - 1,
                                 .rows = episode->rows,
                                 .peak_severity = episode->peak_severity,
                                 .grade = episode->peak_grade,
                                 .is_over = !begins};
    char text[EPISODE_TEXT_BYTES];
    episode_text(&facts, key, text);
    write_json_string("text", text);
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
    output_print(",\"key\":");
    write_json_key(key.text != NULL, key.text, key.bytes);
    record_write_when("start", episode->first_seconds, episode->first_row);
    if (begins)
        output_print(",\"end\":null");
    else
        record_write_when("end", episode->last_seconds, episode->first_row + episode->rows - 1);
    output_print(",\"rows\":%" PRIu64 ",\"anomalies\":%" PRIu64 ",\"grade\":\"%s\",\"peak\":%.2f",
                 episode->rows, episode->anomalies, grade_word(episode->peak_grade),
                 episode->peak_severity);
    write_json_string("reason", reason);
    write_sentence(episode, begins, key, reason);
    if (begins) {
        result_expected_sentence(verdict, reason);
        write_json_text("expected", reason);
    }
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
    output_print(",\"key\":");
    write_json_key(key.text != NULL, key.text, key.bytes);
    record_write_when("start", since, 0);
    if (begins)
        output_print(",\"end\":null");
    else
        record_write_when("end", since + seconds, 0);
    write_json_member("seconds", seconds);
    write_json_string("reason", "silence");
    write_json_string("text", sentence);
    output_print("}\n");
    return output_diverted(bytes);
}
