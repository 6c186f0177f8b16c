#include "row_session.h"

#include <math.h>

session_row row_session_read(const row_session *session, const oif_record *record)
{
    const input_columns *columns = session->columns;
    session_row row = {
        .record = record, .key = key_columns_text(&columns->key, record), .seconds = NAN};
    if (!columns->has_time)
        return row;
    if (columns->has_key && session->times->has_rates)
        stream_clock_set_key(session->times, row.key);
    row.seconds =
        stream_clock_read(session->times, columns_time(session->columns, record), record->line);
    return row;
}

typedef struct silence_count {
    const row_sink *sink;
    size_t silent;
} silence_count;

static void pass_silence(void *context, const oif_silence *silence)
{
    silence_count *count = context;
    count->silent++;
    count->sink->silent(count->sink->context, silence);
}

size_t row_session_look(const row_session *session, double seconds)
{
    silence_count count = {&session->sink, 0};
    oif_pipeline_silent(session->pipeline, seconds, pass_silence, &count);
    return count.silent;
}

oif_status row_session_process(const row_session *session, session_row *row, oif_error *error)
{
    oif_result result;
    if (session->silence && silence_clock_row(session->silence, row->seconds))
        row_session_look(session, row->seconds);
    row->values = categories_row(&session->columns->categories, row->record);
    oif_status status = oif_pipeline_process_at(session->pipeline, row->key.text, row->key.bytes,
                                                row->seconds, row->values, &result, error);
    if (status == OIF_OK)
        session->sink.scored(session->sink.context, row, &result);
    return status;
}
