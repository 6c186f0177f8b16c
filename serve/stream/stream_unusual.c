/* Rows that are far outside of all rows before them while a key still learns. Nothing is an anomaly
 * then, and without this the first hours of a stream would hide what everybody can see.
 *
 *     seen so far   low |--------| high
 *     unusual                    |<-- 3 times that, or more -->| x
 *
 * Such a row is listed with the alerts, with "learning": true. It is not counted as one, begins no
 * episode and changes no score. It does not widen what was seen, unless ROWS_ACCEPTED of them come
 * one after the other: then that is how the stream is. */
#include "stream_parts.h"

#include "front/text/cut.h"
#include "front/text/quoting.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_KNOWN = 32, ROWS_ACCEPTED = 8, LISTED_MAX = 200 };

static const double far_ranges = 3, least_share = 0.1;

typedef struct unusual_value {
    size_t column;
    double value, low, high; /* and what was seen before */
    double ranges;           /* outside; 0: it is not unusual */
} unusual_value;

/* How far outside, in units of the range: of a constant column, a tenth of its value. */
static double ranges_outside(double value, double low, double high)
{
    const double range = fmax(high - low, least_share * fmax(fabs(low), fabs(high)));
    const double outside = fmax(value - high, low - value);
    return outside > 0 && range > 0 ? outside / range : 0;
}

static unusual_value find_farthest(const float *ranges, const double *values, size_t columns)
{
    unusual_value found = {.ranges = 0};
    for (size_t i = 0; i < columns; i++) {
        const double low = (double)ranges[2 * i], high = (double)ranges[2 * i + 1];
        const double outside =
            isfinite(values[i]) && low <= high ? ranges_outside(values[i], low, high) : 0;
        if (outside > far_ranges && outside > found.ranges)
            found = (unusual_value){i, values[i], low, high, outside};
    }
    return found;
}

/* ---- The alert ---- */

static void write_reason(const stream *one, const unusual_value *found)
{
    const char *direction = found->value > found->high ? "high" : "low",
               *name = oif_pipeline_column_name(one->pipeline, found->column);
    char text[1024], number[24];
    snprintf(number, sizeof number, "x%zu", found->column);
    snprintf(text, sizeof text, "%.*s %s: far outside all earlier rows",
             name ? (int)cut_bytes(name, strlen(name), 900) : (int)strlen(number),
             name ? name : number, direction);
    output_print("{\"column\":");
    stream_write_column_name(one, found->column);
    output_print(",\"share\":1,\"direction\":\"%s\"", direction);
    write_json_member("value", found->value);
    output_print(",\"expected\":[%.7g,%.7g]", found->low, found->high);
    write_json_string("text", text);
    output_print("}");
}

static void write_alert(const stream *one, const history_key *key, uint64_t row, double seconds,
                        const unusual_value *found)
{
    stream_begin_object(one, key->info.key, key->info.key_bytes);
    output_print(",\"row\":%" PRIu64, row);
    write_json_member("time", seconds);
    output_print(",\"score\":null,\"threshold\":null,\"severity\":null,"
                 "\"anomaly\":false,\"learning\":true,\"grade\":\"note\",\"episode\":null,"
                 "\"reasons\":[");
    write_reason(one, found);
    output_print("]}");
}

static void list(stream *one, const history_key *key, double seconds, const unusual_value *found)
{
    const uint64_t row = stream_row_count(one) - 1;
    size_t bytes;
    output_divert();
    write_alert(one, key, row, seconds, found);
    char *text = output_diverted(&bytes);
    if (text && !one->is_replaying)
        feed_add(one->events, FEED_ALERT, one->name, key->info.key, key->info.key_bytes, text,
                 bytes);
    history_add_alert(one->past, row, seconds, key->info.key, key->info.key_bytes, text, bytes);
}

/* ---- Rows ---- */

void stream_look_for_unusual(stream *one, history_key *key, const double *values, double seconds)
{
    float *ranges = history_learned_ranges(one->past, key);
    if (!ranges)
        return;
    const unusual_value found = find_farthest(ranges, values, one->past->value_count);
    if (key->info.rows < ROWS_KNOWN || !(found.ranges > 0) || ++key->unusual_rows > ROWS_ACCEPTED) {
        key->unusual_rows = 0;
        history_widen_ranges(one->past, ranges, values);
        return;
    }
    if (one->unusual++ < LISTED_MAX)
        list(one, key, seconds, &found);
}
