/* What a row would get if it came now. It is not learned: a copy of its key's model scores it. */
#include "stream_parts.h"

#include <math.h>
#include <stdlib.h>

/* Copies the model of one key into a new pipeline, to process the row there. */
static oif_status copy_key(stream *one, const char *key, size_t key_bytes, oif_pipeline **copy,
                           oif_error *error)
{
    size_t bytes;
    oif_status status =
        oif_pipeline_key_snapshot_bytes(one->pipeline, key, key_bytes, &bytes, error);
    char *text = status == OIF_OK ? malloc(bytes) : NULL;
    if (status == OIF_OK && !text)
        status = OIF_EMEMORY;
    if (status == OIF_OK)
        status = oif_pipeline_save_key_memory(one->pipeline, key, key_bytes, text, bytes, error);
    if (status == OIF_OK)
        status = oif_pipeline_load_key_memory(*copy, text, bytes, NULL, 0, NULL, error);
    free(text);
    return status;
}

typedef struct explanation {
    stream *one;
    const explain_request *request;
    body_reader reader;
    oif_pipeline *copy;
} explanation;

/* With the options of the model: a state of an older version has some off that are on by default
 * today. */
static exit_code make_copy(explanation *made)
{
    const cli_columns *columns = &made->reader.input.columns;
    cli_settings settings = made->one->settings.cli;
    settings.params = *oif_pipeline_detector_params(made->one->pipeline);
    settings.options = *oif_pipeline_options(made->one->pipeline);
    exit_code code = settings_make_pipeline(&settings, columns->count, &made->copy);
    return code == EXIT_OK ? stream_name_columns(made->one, columns, made->copy) : code;
}

static bool explain_row(explanation *made, const oif_record *record, problem *why)
{
    stream *one = made->one;
    cli_columns *columns = &made->reader.input.columns;
    oif_text name = key_columns_text(&columns->key, record);
    if (made->request->key)
        name = (oif_text){made->request->key, made->request->key_bytes};
    oif_time_format format = one->times.format;
    double seconds = NAN;
    oif_result result;
    oif_error error = {.status = OIF_OK};
    oif_status status = copy_key(one, name.text, name.bytes, &made->copy, &error);
    if (status == OIF_EVALUE) {
        problem_set(why, 404, "send rows of it first", "there is no model of this key");
        why->cause = error.cause;
        return false;
    }
    const oif_text time = columns->has_time ? columns_time(columns, record) : (oif_text){NULL, 0};
    if (columns->has_time && status == OIF_OK &&
        oif_time_parse(&format, time.text, time.bytes, &seconds, NULL) != OIF_OK)
        seconds = NAN;
    const double *row = categories_row(&columns->categories, record);
    if (status == OIF_OK)
        status = oif_pipeline_process_at(made->copy, name.text, name.bytes, seconds, row, &result,
                                         &error);
    if (status != OIF_OK) {
        problem_set(why, status == OIF_EVALUE ? 400 : 503, NULL, "%s",
                    status == OIF_EMEMORY ? "out of memory" : error.message);
        why->cause = error.cause;
        return false;
    }
    result.anomaly = true; /* so that reasons are computed */
    row_verdict verdict = result_fields_judge(&made->reader.fields, made->copy, &result, seconds);
    verdict.result.anomaly = result.grade != OIF_GRADE_NONE;
    history_key key = {.info = {.key = name.text ? name.text : "", .key_bytes = name.bytes}};
    stream_write_alert(one, &verdict, stream_row_count(one), &key);
    return true;
}

static bool read_explained(explanation *made, problem *why)
{
    stream *one = made->one;
    const explain_request *request = made->request;
    body_request asked = stream_ask(one, request->body, request->bytes, request->format, why);
    oif_record record;
    oif_error error;
    bad_rows bad = {0};
    *why = (problem){.status = 400};
    if (!body_readers_begin(&made->reader, 1, &asked) || make_copy(made) != EXIT_OK ||
        body_reader_start(&made->reader, made->copy, &one->settings.cli) != EXIT_OK)
        return false;
    oif_status status = body_reader_next(&made->reader, BAD_ROW_FAILS, &bad, &record, &error);
    if (status == OIF_OK)
        return explain_row(made, &record, why);
    why->line = error.line;
    why->column = error.column;
    if (status == OIF_END)
        complain(EXIT_FAILED, "there is no row in the body");
    else
        input_complain(&made->reader.input, &error);
    return false;
}

bool stream_write_explanation(stream *one, const explain_request *request, problem *why)
{
    explanation made = {.one = one, .request = request};
    complaint about;
    stream_begin_look(one);
    bool is_good = one->pipeline && !one->is_broken;
    if (!is_good) {
        problem_set(why, 409, "send rows first", "the stream has learned nothing yet");
    } else {
        messages_capture_for_service();
        is_good = read_explained(&made, why);
        free(messages_captured(&about));
        if (!is_good && why->message[0] == '\0')
            body_take_complaint(&about, why);
    }
    body_reader_close(&made.reader);
    oif_pipeline_free(made.copy);
    stream_end_look(one);
    return is_good;
}
