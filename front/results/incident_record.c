#include "incident_record.h"

#include "front/text/cut.h"
#include "front/text/quoting.h"
#include "front/text/write_json.h"
#include "record_parts.h"

#include <inttypes.h>

enum { SENTENCE_BYTES = FIELD_TEXT_BYTES + 1024, NAME_BYTES = 4 * OIF_INCIDENT_TEXT_BYTES };

static const char *const phase_words[] = {"begins", "grows", "lasts", "ends"};

oif_grade incident_record_grade(double severity)
{
    return severity >= OIF_CRITICAL_SEVERITY  ? OIF_GRADE_CRITICAL
           : severity >= OIF_WARNING_SEVERITY ? OIF_GRADE_WARNING
                                              : OIF_GRADE_NOTE;
}

/* The library has one clock: of times, or of rows. */
static void write_moment(const char *name, double clock, bool has_times)
{
    if (isnan(clock))
        output_print(",\"%s\":null", name);
    else
        record_write_when(name, has_times ? clock : NAN, has_times ? 0 : (uint64_t)clock);
}

static const char *moment_of(double clock, bool has_times, char text[WHEN_TEXT_BYTES])
{
    return record_when_text(has_times ? clock : NAN, has_times ? 0 : (uint64_t)clock, "row ", text);
}

/* ---- Members ---- */

static void write_member(const oif_incident_member *member, bool has_times)
{
    output_print("{\"key\":");
    quoting_write_json(member->key, member->key_bytes);
    output_print(",\"column\":");
    quoting_write_json(member->column, member->column_bytes);
    if (member->stream_bytes > 0) {
        output_print(",\"stream\":");
        quoting_write_json(member->stream, member->stream_bytes);
        output_print(",\"episode\":%" PRIu64, member->episode);
    }
    write_moment("start", member->seconds, has_times);
    write_moment("end", member->end_seconds, has_times);
    output_print(",\"grade\":\"%s\",\"peak\":%.2f}",
                 grade_word(incident_record_grade(member->severity)), member->severity);
}

static void write_order(const oif_incidents *incidents, uint64_t number, bool has_times)
{
    oif_incident_member member;
    output_print(",\"order\":[");
    for (size_t i = 0; oif_incidents_member(incidents, number, i, &member); i++) {
        output_text(i > 0 ? "," : "");
        write_member(&member, has_times);
    }
    output_print("]");
}

static void write_shared(const oif_incidents *incidents, uint64_t number)
{
    oif_incident_shared shared;
    output_print(",\"shared\":[");
    for (size_t i = 0; oif_incidents_shared(incidents, number, i, &shared); i++) {
        output_print("%s{\"%s\":", i > 0 ? "," : "", shared.is_column ? "column" : "part");
        quoting_write_json(shared.text, shared.bytes);
        output_print("}");
    }
    output_print("]");
}

/* ---- The sentence ---- */

/* "fleet / rack-2/host-17", without the stream if it has no name. */
static size_t write_place(const oif_incident_member *member, char text[NAME_BYTES])
{
    int bytes = snprintf(
        text, NAME_BYTES, "%.*s%s%.*s", (int)cut_bytes(member->stream, member->stream_bytes, 64),
        member->stream, member->stream_bytes > 0 && member->key_bytes > 0 ? " / " : "",
        (int)cut_bytes(member->key, member->key_bytes, OIF_INCIDENT_TEXT_BYTES), member->key);
    return bytes > 0 ? (size_t)bytes : 0;
}

/* "incident 3: rack-2/host-17: latency high 100% since 2026-11-15T19:05:01Z (warning)", and then
 * "incident 3 grows: rack-2/host-17: latency high 100% and 4 more since ... (critical); all share
 * latency". */
static void write_sentence(const oif_incidents *incidents, const oif_incident_info *info,
                           const oif_incident_member *worst, const incident_view *view)
{
    char text[SENTENCE_BYTES], place[NAME_BYTES], since[WHEN_TEXT_BYTES],
        more[32] = "", shared_text[NAME_BYTES] = "";
    oif_incident_shared shared;
    const char *phase = view->phase == INCIDENT_BEGINS ? ""
                        : view->phase == INCIDENT_ENDS ? " is over"
                                                       : phase_words[view->phase];
    const size_t bytes = write_place(worst, place);
    if (info->members > 1)
        snprintf(more, sizeof more, " and %" PRIu64 " more", info->members - 1);
    if (oif_incidents_shared(incidents, info->number, 0, &shared))
        snprintf(shared_text, sizeof shared_text, "; all share %.*s", (int)shared.bytes,
                 shared.text);
    snprintf(text, sizeof text, "incident %" PRIu64 "%s%s: %s%s%.*s%s since %s (%s)%s",
             info->number, *phase && *phase != ' ' ? " " : "", phase, place, bytes > 0 ? ": " : "",
             worst->reason_bytes > 0 ? (int)worst->reason_bytes : 7,
             worst->reason_bytes > 0 ? worst->reason : "unusual", more,
             moment_of(info->first_seconds, view->has_times, since),
             grade_word(incident_record_grade(worst->severity)), shared_text);
    write_json_string("text", text);
}

/* ---- The record ---- */

void incident_record_write(const oif_incidents *incidents, uint64_t number,
                           const incident_view *view)
{
    const bool has_times = view->has_times;
    oif_incident_info info;
    oif_incident_member worst;
    if (!oif_incidents_info(incidents, number, &info) ||
        !oif_incidents_member(incidents, number, info.worst, &worst))
        return;
    output_print("{\"incident\":\"%s\",\"id\":%" PRIu64, phase_words[view->phase], number);
    write_moment("start", info.first_seconds, has_times);
    write_moment("end", view->phase == INCIDENT_ENDS ? info.last_seconds : NAN, has_times);
    output_print(",\"members\":%" PRIu64 ",\"open\":%" PRIu64 ",\"grade\":\"%s\",\"peak\":%.2f",
                 info.members, info.open, grade_word(incident_record_grade(worst.severity)),
                 worst.severity);
    output_print(",\"reason\":");
    quoting_write_json(worst.reason, worst.reason_bytes);
    write_shared(incidents, number);
    output_print(",\"worst\":");
    write_member(&worst, has_times);
    if (!view->is_brief)
        write_order(incidents, number, has_times);
    write_sentence(incidents, &info, &worst, view);
    output_print("}");
}
