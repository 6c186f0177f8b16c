/* What a row would get if it came now. It is not learned: a copy of its key's model scores it.
 *
 * Under the lock the row is read and the model of its key written to memory. Rows continue while
 * the copy is made from that and scores the row. */
#include "stream_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct explanation {
    stream *one;
    const explain_request *request;
    body_reader reader;
    oif_pipeline *copy;
    char *model; /* of the key, as a snapshot */
    size_t model_bytes;
    char *key; /* NULL: without a key */
    size_t key_bytes;
    double seconds;
    double *row;
    row_verdict verdict;
} explanation;

static void close_explanation(explanation *made)
{
    body_reader_close(&made->reader);
    oif_pipeline_free(made->copy);
    free(made->model);
    free(made->key);
    free(made->row);
}

static bool fail_on(oif_status status, const oif_error *error, problem *why)
{
    problem_set(why, status == OIF_EVALUE ? 400 : 503, NULL, "%s",
                status == OIF_EMEMORY ? "out of memory" : error->message);
    why->cause = error->cause;
    return false;
}

/* ---- Under the lock ---- */

/* With the options of the model: a default may have changed since it was made. */
static exit_code make_copy(explanation *made)
{
    const cli_columns *columns = &made->reader.input.columns;
    cli_settings settings = made->one->settings.cli;
    settings.params = *oif_pipeline_detector_params(made->one->pipeline);
    settings.options = *oif_pipeline_options(made->one->pipeline);
    exit_code code = settings_make_pipeline(&settings, columns->count, &made->copy);
    return code == EXIT_OK ? stream_name_columns(made->one, columns, made->copy) : code;
}

static bool take_model(explanation *made, problem *why)
{
    const oif_pipeline *pipeline = made->one->pipeline;
    oif_error error = {.status = OIF_OK};
    oif_status status = oif_pipeline_key_snapshot_bytes(pipeline, made->key, made->key_bytes,
                                                        &made->model_bytes, &error);
    if (status == OIF_EVALUE) {
        problem_set(why, 404, "send rows of it first", "there is no model of this key");
        why->cause = error.cause;
        return false;
    }
    made->model = status == OIF_OK ? malloc(made->model_bytes) : NULL;
    if (status == OIF_OK)
        status = !made->model
                     ? OIF_EMEMORY
                     : oif_pipeline_save_key_memory(pipeline, made->key, made->key_bytes,
                                                    made->model, made->model_bytes, &error);
    return status == OIF_OK || fail_on(status, &error, why);
}

/* Copies what the reader would lose: the key, the time and the values. */
static bool take_row(explanation *made, const oif_record *record, problem *why)
{
    cli_columns *columns = &made->reader.input.columns;
    oif_text name = key_columns_text(&columns->key, record);
    if (made->request->key)
        name = (oif_text){made->request->key, made->request->key_bytes};
    oif_time_format format = made->one->times.format;
    const oif_text time = columns->has_time ? columns_time(columns, record) : (oif_text){NULL, 0};
    if (!columns->has_time ||
        oif_time_parse(&format, time.text, time.bytes, &made->seconds, NULL) != OIF_OK)
        made->seconds = NAN;
    const size_t row_bytes = oif_pipeline_columns(made->copy) * sizeof *made->row;
    made->row = malloc(row_bytes);
    made->key = name.text ? malloc(name.bytes + 1) : NULL;
    made->key_bytes = name.bytes;
    if (!made->row || (name.text && !made->key))
        return fail_on(OIF_EMEMORY, &(oif_error){.status = OIF_EMEMORY}, why);
    memcpy(made->row, categories_row(&columns->categories, record), row_bytes);
    if (made->key)
        memcpy(made->key, name.text, name.bytes);
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
        return take_row(made, &record, why) && take_model(made, why);
    why->line = error.line;
    why->column = error.column;
    if (status == OIF_END)
        complain(EXIT_FAILED, "there is no row in the body");
    else
        input_complain(&made->reader.input, &error);
    return false;
}

static bool begin_explanation(explanation *made, problem *why)
{
    complaint about;
    if (!made->one->pipeline || made->one->is_broken) {
        problem_set(why, 409, "send rows first", "the stream has learned nothing yet");
        return false;
    }
    messages_capture_for_service();
    bool is_good = read_explained(made, why);
    free(messages_captured(&about));
    if (!is_good && why->message[0] == '\0')
        body_take_complaint(&about, why);
    return is_good;
}

static void write_explanation(const explanation *made)
{
    const history_key key = {
        .info = {.key = made->key ? made->key : "", .key_bytes = made->key_bytes}};
    stream_write_alert(made->one, &made->verdict, stream_row_count(made->one), &key);
}

/* ---- Without the lock ---- */

static bool score_copy(explanation *made, problem *why)
{
    oif_result result;
    oif_error error = {.status = OIF_OK};
    oif_status status = oif_pipeline_load_key_memory(made->copy, made->model, made->model_bytes,
                                                     NULL, 0, NULL, &error);
    if (status == OIF_OK)
        status = oif_pipeline_process_at(made->copy, made->key, made->key_bytes, made->seconds,
                                         made->row, &result, &error);
    if (status != OIF_OK)
        return fail_on(status, &error, why);
    result.anomaly = true; /* so that reasons are computed */
    made->verdict = result_fields_judge(&made->reader.fields, made->copy, &result, made->seconds);
    made->verdict.result.anomaly = result.grade != OIF_GRADE_NONE;
    return true;
}

bool stream_write_explanation(stream *one, const explain_request *request, problem *why)
{
    explanation made = {.one = one, .request = request};
    stream_begin_look(one);
    bool is_good = begin_explanation(&made, why);
    stream_end_look(one);
    is_good = is_good && score_copy(&made, why);
    if (is_good) {
        stream_begin_look(one);
        write_explanation(&made);
        stream_end_look(one);
    }
    close_explanation(&made);
    return is_good;
}
