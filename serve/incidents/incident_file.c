/* DIR/incidents:
 *
 *     "oifincs1" | bytes of the text | text, JSON | snapshot of oif_incidents | checksum
 *
 * The text has what the library does not keep: notices that wait, records of ended incidents, and
 * how many events of each stream the snapshot has. */
#include "incident_list_parts.h"

#include "front/text/output.h"
#include "front/text/quoting.h"
#include "front/text/write_json.h"
#include "serve/base/folder.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

/* gcc's analyzer reports a text that is returned in a struct as leaked. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

static const char file_magic[8] = "oifincs1";
static const char file_name[] = "incidents";

enum { PATH_BYTES = 4096, HEAD_BYTES = 16, CHECKSUM_BYTES = 8, FILE_BYTES_MAX = 1 << 28 };

struct incident_copy {
    char *bytes;
    size_t count;
    uint64_t number; /* of the copy */
};

static const char *path_of(const incident_list *list, const char *ending, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/%s%s", list->folder, file_name, ending);
    return path;
}

/* ---- Writing ---- */

static void write_events(const incident_list *list)
{
    bool is_first = true;
    output_print(",\"events\":{");
    for (size_t i = 0; i < list->events.slot_count; i++) {
        const numbered_item *one = (const numbered_item *)(const void *)list->events.slots[i];
        if (!one)
            continue;
        output_text(is_first ? "" : ",");
        quoting_write_json(one->item.key, one->item.key_bytes);
        output_print(":%" PRIu64, one->number);
        is_first = false;
    }
    output_print("}");
}

static void write_text(incident_list *list)
{
    output_print("{\"version\":1,\"total\":%" PRIu64, list->total);
    write_events(list);
    output_print(",\"notices\":[");
    for (size_t i = 0; i < list->notice_count; i++) {
        output_text(i > 0 ? "," : "");
        quoting_write_json(list->notices[i].record.text, list->notices[i].record.bytes);
    }
    output_print("],\"ended\":[");
    for (size_t i = 0; i < list->ended_count; i++) {
        const ended_incident *ended = incident_list_ended_at(list, i);
        output_print("%s{\"id\":%" PRIu64, i > 0 ? "," : "", ended->number);
        write_json_member("end", ended->end_seconds);
        output_print(",\"record\":");
        quoting_write_json(ended->record.text ? ended->record.text : "", ended->record.bytes);
        output_print("}");
    }
    output_print("]}\n");
}

/* Under the lock. */
static bool fill_copy(incident_list *list, incident_copy *copy)
{
    size_t text_bytes = 0;
    output_divert();
    write_text(list);
    char *text = output_diverted(&text_bytes);
    const size_t snapshot_bytes = oif_incidents_snapshot_bytes(list->incidents);
    const uint64_t count = text_bytes;
    copy->count = HEAD_BYTES + text_bytes + snapshot_bytes + CHECKSUM_BYTES;
    copy->bytes = text ? malloc(copy->count) : NULL;
    bool is_good = copy->bytes != NULL;
    if (is_good) {
        memcpy(copy->bytes, file_magic, sizeof file_magic);
        memcpy(copy->bytes + sizeof file_magic, &count, sizeof count);
        memcpy(copy->bytes + HEAD_BYTES, text, text_bytes);
        is_good = oif_incidents_save_memory(list->incidents, copy->bytes + HEAD_BYTES + text_bytes,
                                            snapshot_bytes, NULL) == OIF_OK;
        const size_t before = copy->count - CHECKSUM_BYTES;
        const uint64_t checksum = byte_hash(BYTE_HASH_START, copy->bytes, before);
        memcpy(copy->bytes + before, &checksum, sizeof checksum);
    }
    free(text);
    return is_good;
}

static void free_copy(incident_copy *copy)
{
    if (copy)
        free(copy->bytes);
    free(copy);
}

incident_copy *incident_list_copy(incident_list *list)
{
    if (!list->folder)
        return NULL;
    incident_copy *copy = NULL;
    pthread_mutex_lock(&list->lock);
    if (list->is_changed && (copy = calloc(1, sizeof *copy))) {
        if (fill_copy(list, copy)) {
            copy->number = ++list->copies;
            list->is_changed = false;
        } else {
            free_copy(copy);
            copy = NULL;
        }
    }
    pthread_mutex_unlock(&list->lock);
    return copy;
}

static bool write_file(const char *path, const incident_copy *copy)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return false;
    bool is_written = fwrite(copy->bytes, 1, copy->count, file) == copy->count &&
                      fflush(file) == 0 && fsync(fileno(file)) == 0;
    return fclose(file) == 0 && is_written;
}

static bool replace_file(const incident_list *list, const incident_copy *copy)
{
    char path[PATH_BYTES], new_path[PATH_BYTES];
    path_of(list, "", path);
    path_of(list, ".new", new_path);
    return write_file(new_path, copy) && rename(new_path, path) == 0 && folder_sync(list->folder);
}

static void report_saved(incident_list *list, bool is_saved, int reason)
{
    char path[PATH_BYTES];
    pthread_mutex_lock(&list->lock);
    bool was_failing = list->is_failing;
    list->is_failing = !is_saved;
    list->is_changed |= !is_saved;
    pthread_mutex_unlock(&list->lock);
    if (!is_saved && !was_failing)
        complain(EXIT_FAILED,
                 "%s: cannot be written: %s; incidents continue, and are saved once there is room",
                 path_of(list, "", path), strerror(reason));
    else if (is_saved && was_failing)
        note("%s: saving works again", path_of(list, "", path));
}

/* Two threads may save: the saver, and a stream before its snapshot. */
bool incident_list_save(incident_list *list, incident_copy *copy)
{
    bool is_saved = true;
    if (!copy)
        return true;
    pthread_mutex_lock(&list->saving);
    if (copy->number > list->saved_copy) {
        is_saved = replace_file(list, copy);
        report_saved(list, is_saved, errno);
        if (is_saved)
            list->saved_copy = copy->number;
    }
    pthread_mutex_unlock(&list->saving);
    free_copy(copy);
    return is_saved;
}

/* ---- Reading ---- */

static char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    long count = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = count >= 0 && count <= FILE_BYTES_MAX && fseek(file, 0, SEEK_SET) == 0
                     ? malloc((size_t)count + 1)
                     : NULL;
    if (text && fread(text, 1, (size_t)count, file) != (size_t)count) {
        free(text);
        text = NULL;
    }
    fclose(file);
    *bytes = (size_t)count;
    return text;
}

static kept_text take_text(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && *text ? kept_text_copy(text, strlen(text)) : (kept_text){.text = NULL};
}

static uint64_t number_of(const json_t *object, const char *name)
{
    const json_int_t number = json_integer_value(json_object_get(object, name));
    return number > 0 ? (uint64_t)number : 0;
}

static void know(incident_list *list, const char *identity, size_t bytes, uint64_t number)
{
    numbered_item *item = incident_list_item(&list->known, identity, bytes);
    if (item)
        item->number = number;
}

/* The members of ended incidents, for episodes that a journal brings back. */
static void know_ended(incident_list *list, const ended_incident *ended)
{
    json_t *record = json_loadb(ended->record.text, ended->record.bytes, JSON_ALLOW_NUL, NULL);
    size_t i;
    json_t *member;
    json_array_foreach(json_object_get(record, "order"), i, member) {
        char identity[IDENTITY_BYTES];
        const json_t *stream = json_object_get(member, "stream"),
                     *key = json_object_get(member, "key");
        const char *name = json_string_value(stream), *key_text = json_string_value(key);
        if (!name)
            continue;
        know(list, identity,
             incident_identity(number_of(member, "episode"), name, json_string_length(stream),
                               key_text, json_string_length(key), identity),
             ended->number);
    }
    json_decref(record);
}

static void know_open(incident_list *list, uint64_t number)
{
    oif_incident_member member;
    for (size_t i = 0; oif_incidents_member(list->incidents, number, i, &member); i++) {
        char identity[IDENTITY_BYTES];
        know(list, identity,
             incident_identity(member.episode, member.stream, member.stream_bytes, member.key,
                               member.key_bytes, identity),
             number);
    }
}

static void take_ended_list(incident_list *list, const json_t *array)
{
    size_t i;
    json_t *one;
    json_array_foreach(array, i, one) {
        ended_incident ended = {.number = number_of(one, "id"),
                                .end_seconds = json_number_value(json_object_get(one, "end"))};
        ended.record = take_text(json_object_get(one, "record"));
        if (ended.record.text)
            know_ended(list, &ended);
        incident_list_add_ended(list, ended);
    }
}

static void take_notices(incident_list *list, const json_t *array)
{
    size_t i;
    json_t *one;
    json_array_foreach(array, i, one) {
        incident_list_add_notice(list, take_text(one));
    }
}

static void take_events(incident_list *list, json_t *counts)
{
    const char *stream;
    json_t *count;
    json_object_foreach(counts, stream, count) {
        numbered_item *item = incident_list_item(&list->events, stream, strlen(stream));
        if (item)
            item->number = (uint64_t)json_integer_value(count);
    }
}

/* Returns NULL, or what is wrong. */
static const char *take_file(incident_list *list, const char *bytes, size_t count)
{
    uint64_t text_bytes, checksum;
    if (count < HEAD_BYTES + CHECKSUM_BYTES || memcmp(bytes, file_magic, sizeof file_magic) != 0)
        return "is not a file of incidents";
    memcpy(&text_bytes, bytes + sizeof file_magic, sizeof text_bytes);
    memcpy(&checksum, bytes + count - CHECKSUM_BYTES, sizeof checksum);
    const size_t room = count - HEAD_BYTES - CHECKSUM_BYTES;
    if (checksum != byte_hash(BYTE_HASH_START, bytes, count - CHECKSUM_BYTES) || text_bytes > room)
        return "is damaged: its checksum is wrong";
    json_t *text = json_loadb(bytes + HEAD_BYTES, (size_t)text_bytes, JSON_ALLOW_NUL, NULL);
    bool is_good =
        json_is_object(text) && number_of(text, "version") == 1 &&
        oif_incidents_load_memory(bytes + HEAD_BYTES + text_bytes, room - (size_t)text_bytes,
                                  &list->incidents, NULL) == OIF_OK;
    if (is_good) {
        list->total = number_of(text, "total");
        take_events(list, json_object_get(text, "events"));
        take_ended_list(list, json_object_get(text, "ended"));
        take_notices(list, json_object_get(text, "notices"));
        uint64_t number;
        for (size_t i = 0; (number = oif_incidents_number(list->incidents, i)) != 0; i++)
            know_open(list, number);
    }
    json_decref(text);
    return is_good ? NULL : "cannot be used by this version";
}

bool incident_file_load(incident_list *list)
{
    char path[PATH_BYTES], aside[PATH_BYTES];
    size_t count = 0;
    char *bytes = read_file(path_of(list, "", path), &count);
    if (!bytes && errno == ENOENT)
        return false;
    const char *wrong = bytes ? take_file(list, bytes, count) : "cannot be read";
    free(bytes);
    if (!wrong)
        return true;
    complain(EXIT_FAILED,
             "%s: %s; it is kept as incidents.damaged, and incidents begin again, from the number "
             "1; streams are not affected",
             path, wrong);
    if (rename(path, path_of(list, ".damaged", aside)) != 0)
        note("%s: cannot be renamed: %s", path, strerror(errno));
    return false;
}
