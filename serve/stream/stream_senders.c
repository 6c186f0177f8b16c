/* Rows that are sent again: numbers of writers, keys of requests, and repeated answers. */
#include "stream_parts.h"

#include "front/text/cut.h"
#include "front/text/quoting.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

sender stream_sender_of(const rows_request *request)
{
    sender from = {.kind = SENDER_NONE, .name = "", .keeps_answer = !request->is_forgotten};
    if (request->key) {
        from.kind = SENDER_KEY;
        from.name = request->key;
    } else if (request->has_first_row) {
        from.kind = request->writer ? SENDER_WRITER : SENDER_STREAM;
        from.name = request->writer ? request->writer : "";
        from.first_row = request->first_row;
    }
    from.name_bytes = strlen(from.name);
    return from;
}

uint64_t stream_position(const stream *one, const sender *from)
{
    return from->kind == SENDER_STREAM ? stream_row_count(one)
           : from->kind == SENDER_NONE ? 0
                                       : senders_position(one->senders, from);
}

bool stream_check_sender(const stream *one, const sender *from, problem *why)
{
    const uint64_t rows = stream_position(one, from);
    if (from->kind == SENDER_NONE || from->first_row <= rows)
        return true;
    if (from->kind == SENDER_STREAM)
        return problem_set(why, 409, "send the rows from number `rows` on",
                           "first_row is %" PRIu64 ", but the stream has only %" PRIu64
                           " rows: those between are missing",
                           from->first_row, rows);
    return problem_set(why, 409,
                       rows > 0 ? "Send the rows from number `writer_rows` on."
                                : "Begin with first_row=0; a writer that was not seen for long may "
                                  "have been dropped.",
                       "first_row is %" PRIu64 ", but the writer %s has only %" PRIu64 " rows",
                       from->first_row, cut_name(from->name).text, rows);
}

/* ---- The journal ---- */

char *stream_write_sent(const rows_request *request, size_t *bytes)
{
    json_t *about =
        json_pack("{s:i, s:b, s:s*, s:s*, s:b, s:I}", "answer", (int)request->answer, "forgotten",
                  request->is_forgotten, "writer", request->writer, "key", request->key, "numbered",
                  request->has_first_row, "first", (json_int_t)request->first_row);
    char *head = about ? json_dumps(about, JSON_COMPACT) : NULL;
    json_decref(about);
    const size_t head_bytes = head ? strlen(head) + 1 : 0;
    char *payload = head ? malloc(head_bytes + request->bytes) : NULL;
    if (payload) {
        memcpy(payload, head, head_bytes - 1);
        payload[head_bytes - 1] = '\n';
        if (request->bytes > 0)
            memcpy(payload + head_bytes, request->body, request->bytes);
    }
    free(head);
    *bytes = head_bytes + request->bytes;
    return payload;
}

bool stream_read_sent(const journal_record *record, rows_request *request, json_t **texts)
{
    const char *end = memchr(record->payload, '\n', record->bytes);
    const size_t head_bytes = end ? (size_t)(end - record->payload) : 0;
    *texts = json_loadb(record->payload, head_bytes, 0, NULL);
    if (!*texts)
        return false;
    const json_int_t answer = json_integer_value(json_object_get(*texts, "answer"));
    *request = (rows_request){
        .body = end + 1,
        .bytes = record->bytes - head_bytes - 1,
        .format = record->format,
        .answer = answer >= 0 && answer <= ANSWER_COUNT ? (rows_answer_kind)answer : ANSWER_COUNT,
        .is_forgotten = json_is_true(json_object_get(*texts, "forgotten")),
        .writer = json_string_value(json_object_get(*texts, "writer")),
        .key = json_string_value(json_object_get(*texts, "key")),
        .has_first_row = json_is_true(json_object_get(*texts, "numbered")),
        .first_row = (uint64_t)json_integer_value(json_object_get(*texts, "first"))};
    return true;
}

/* ---- The list ---- */

static void write_writer(void *context, const writer_info *info)
{
    const char **comma = context;
    output_print("%s{\"writer\":", *comma);
    quoting_write_json(info->name, info->name_bytes);
    output_print(",\"rows\":%" PRIu64, info->rows);
    write_json_member("last_seen", info->seen);
    output_print("}");
    *comma = ",";
}

void stream_write_writers(stream *one)
{
    const char *comma = "";
    stream_begin_look(one);
    output_print("{\"writers\":[");
    senders_each_writer(one->senders, write_writer, &comma);
    output_print("],\"dropped\":%" PRIu64 "}\n", senders_get_figures(one->senders).writers_dropped);
    stream_end_look(one);
}
