#include "base/bytes.h"
#include "base/error.h"
#include "snapshot/sections.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Only the first failure counts. */
static void fail(oif_section_reader *reader, oif_status status, oif_cause cause, const char *format,
                 va_list arguments)
{
    char message[OIF_ERROR_MESSAGE_BYTES];
    if (reader->status != OIF_OK)
        return;
    const uint64_t at = reader->offset - (reader->filled - reader->next);
    vsnprintf(message, sizeof message, format, arguments);
    reader->status = oif_fail_because_at(reader->error, status, cause, 0, at, "byte %llu: %s",
                                         (unsigned long long)at, message);
}

void oif_section_reader_fail(oif_section_reader *reader, oif_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(reader, status, oif_cause_of(status), format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 4, 5))) static void fail_because(oif_section_reader *reader,
                                                               oif_status status, oif_cause cause,
                                                               const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fail(reader, status, cause, format, arguments);
    va_end(arguments);
}

/* Reads `count` bytes, or fewer if the source ends (`*is_end`) or fails. Returns how many. */
static size_t read_up_to(oif_section_reader *reader, unsigned char *bytes, size_t count,
                         bool *is_end)
{
    size_t have = 0;
    while (have < count) {
        ptrdiff_t got = reader->status != OIF_OK
                            ? -1
                            : reader->read(reader->context, (char *)bytes + have, count - have);
        *is_end = got == 0;
        if (got <= 0 || (size_t)got > count - have)
            break;
        have += (size_t)got;
        reader->offset += (size_t)got;
    }
    return have;
}

static void fail_short(oif_section_reader *reader, bool is_end)
{
    if (is_end)
        oif_section_reader_fail(reader, OIF_ETRUNCATED, "the snapshot is cut off here");
    else
        oif_section_reader_fail(reader, OIF_EREAD, "reading failed");
}

/* Fills all of `bytes`; with zeros after a failure. */
static void read_bytes(oif_section_reader *reader, unsigned char *bytes, size_t count)
{
    bool is_end = false;
    if (read_up_to(reader, bytes, count, &is_end) < count) {
        fail_short(reader, is_end);
        memset(bytes, 0, count);
        return;
    }
    reader->checksum = oif_checksum(&oif_checksum_zip, reader->checksum, bytes, count);
}

static void check_checksum(oif_section_reader *reader, const char *of_what)
{
    unsigned char bytes[OIF_CHECKSUM_BYTES];
    uint32_t checksum = reader->checksum;
    read_bytes(reader, bytes, sizeof bytes);
    if (oif_bytes_load(bytes, sizeof bytes) != checksum)
        fail_because(reader, OIF_ECORRUPT, OIF_CAUSE_WRONG_CHECKSUM, "the checksum of %s is wrong",
                     of_what);
    reader->checksum = 0;
}

/* Whether numbers in memory have the byte order of a snapshot. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && !defined(OIF_PORTABLE)
enum { IS_AS_IN_MEMORY = 1 };
#else
enum { IS_AS_IN_MEMORY = 0 };
#endif

static void decode(const unsigned char *bytes, oif_field_type type, void *values, size_t count)
{
    if (IS_AS_IN_MEMORY) {
        memcpy(values, bytes, count * oif_field_type_bytes(type));
        return;
    }
    switch (type) {
    case OIF_FIELD_U8: memcpy(values, bytes, count); break;
    case OIF_FIELD_U16:
        for (size_t i = 0; i < count; i++)
            ((uint16_t *)values)[i] = (uint16_t)oif_bytes_load(bytes + 2 * i, 2);
        break;
    case OIF_FIELD_U32:
    case OIF_FIELD_I32:
        for (size_t i = 0; i < count; i++)
            ((uint32_t *)values)[i] = (uint32_t)oif_bytes_load(bytes + 4 * i, 4);
        break;
    case OIF_FIELD_U64:
    case OIF_FIELD_I64:
        for (size_t i = 0; i < count; i++)
            ((uint64_t *)values)[i] = oif_bytes_load(bytes + 8 * i, 8);
        break;
    case OIF_FIELD_F64:
        for (size_t i = 0; i < count; i++)
            ((double *)values)[i] = oif_double_from_bits(oif_bytes_load(bytes + 8 * i, 8));
    }
}

/* Makes sure that the next `count` bytes of the payload are in the buffer, and reads ahead: most
 * fields are a few bytes. */
static void fill_buffer(oif_section_reader *reader, size_t count)
{
    const size_t have = reader->filled - reader->next;
    if (have >= count)
        return;
    size_t more = sizeof reader->buffer - have;
    if (more > reader->left - have)
        more = (size_t)(reader->left - have);
    memmove(reader->buffer, reader->buffer + reader->next, have);
    reader->next = reader->filled = 0; /* so a failure is reported where reading stopped */
    read_bytes(reader, reader->buffer + have, more);
    reader->filled = have + more;
}

/* The next bytes of the payload, at most the size of the buffer; zeros after a failure. */
static const unsigned char *take_payload(oif_section_reader *reader, size_t count)
{
    if (count > reader->left)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the section '%s' is too short", reader->tag);
    if (reader->status == OIF_OK)
        fill_buffer(reader, count);
    if (reader->status != OIF_OK)
        return memset(reader->buffer, 0, count);
    const unsigned char *bytes = reader->buffer + reader->next;
    reader->next += count;
    reader->left -= count;
    return bytes;
}

/* Reads bytes of the payload that need no decoding: what is buffered is copied, the rest is read
 * into its place. */
static void read_in_place(oif_section_reader *reader, unsigned char *bytes, size_t count)
{
    const size_t buffered = reader->filled - reader->next;
    memcpy(bytes, take_payload(reader, buffered), buffered);
    if (count > reader->left + buffered)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the section '%s' is too short", reader->tag);
    if (reader->status != OIF_OK)
        return;
    read_bytes(reader, bytes + buffered, count - buffered);
    reader->left -= count - buffered;
}

static void read_field(oif_state_visitor *self, const char *name, oif_field_type type, void *values,
                       size_t count)
{
    (void)name;
    oif_section_reader *reader = (oif_section_reader *)self;
    unsigned char *next = values;
    size_t width = oif_field_type_bytes(type), most = sizeof reader->buffer / width;
    if (IS_AS_IN_MEMORY && count > most) {
        read_in_place(reader, next, count * width);
        return;
    }
    while (count > 0 && reader->status == OIF_OK) {
        size_t now = count < most ? count : most;
        decode(take_payload(reader, now * width), type, next, now);
        next += now * width, count -= now;
    }
}

/* Fields of a record that are adjacent in memory. */
typedef struct run {
    size_t offset, bytes;
} run;

enum { MOST_RUNS = 4 };

/* Joins the fields of records into runs. Returns how many; 0 if there are more than MOST_RUNS. */
static size_t join_fields(const oif_records *records, run runs[MOST_RUNS])
{
    size_t count = 0;
    for (size_t f = 0; f < records->field_count; f++) {
        const oif_field *field = &records->fields[f];
        const size_t bytes = field->count * oif_field_type_bytes(field->type);
        if (count > 0 && runs[count - 1].offset + runs[count - 1].bytes == field->offset)
            runs[count - 1].bytes += bytes;
        else if (count < MOST_RUNS)
            runs[count++] = (run){field->offset, bytes};
        else
            return 0;
    }
    return count;
}

/* A four-byte field costs as much as a run of forty: with runs and without decoding, hst loads
 * three times as fast. */
static void read_runs(oif_section_reader *reader, const oif_records *records, const run *runs,
                      size_t run_count)
{
    const size_t record_bytes = oif_record_bytes(records);
    char *record = records->first;
    for (size_t i = 0; i < records->count && reader->status == OIF_OK; i++) {
        const unsigned char *bytes = take_payload(reader, record_bytes);
        for (size_t r = 0; r < run_count; bytes += runs[r++].bytes)
            memcpy(record + runs[r].offset, bytes, runs[r].bytes);
        record += records->stride;
    }
}

static void read_records(oif_state_visitor *self, const oif_records *records)
{
    oif_section_reader *reader = (oif_section_reader *)self;
    const size_t record_bytes = oif_record_bytes(records);
    char *record = records->first;
    run runs[MOST_RUNS];
    const size_t run_count = IS_AS_IN_MEMORY ? join_fields(records, runs) : 0;
    if (run_count == 1 && runs[0].bytes == records->stride) {
        read_field(self, "", OIF_FIELD_U8, record + runs[0].offset, records->count * record_bytes);
        return;
    }
    if (record_bytes > sizeof reader->buffer) {
        oif_visit_fields_of_records(self, records);
        return;
    }
    if (run_count > 0) {
        read_runs(reader, records, runs, run_count);
        return;
    }
    for (size_t i = 0; i < records->count && reader->status == OIF_OK; i++) {
        const unsigned char *bytes = take_payload(reader, record_bytes);
        for (size_t f = 0; f < records->field_count; f++) {
            const oif_field *field = &records->fields[f];
            decode(bytes, field->type, record + field->offset, field->count);
            bytes += field->count * oif_field_type_bytes(field->type);
        }
        record += records->stride;
    }
}

/* A text of a few bytes is not a truncated snapshot. */
static void read_magic(oif_section_reader *reader)
{
    static const char before_release[] = "\x89OIF\r\n\x1A\n";
    unsigned char bytes[sizeof oif_snapshot_magic];
    bool is_end = false;
    const size_t have = read_up_to(reader, bytes, sizeof bytes, &is_end);
    if (have == sizeof bytes && memcmp(bytes, before_release, have) == 0)
        fail_because(reader, OIF_EKIND, OIF_CAUSE_NOT_A_SNAPSHOT,
                     "a version of oif before 0.1.0 wrote this snapshot, and no release reads it");
    else if (memcmp(bytes, oif_snapshot_magic, have) != 0)
        fail_because(reader, OIF_EKIND, OIF_CAUSE_NOT_A_SNAPSHOT, "this is not a snapshot of oif");
    else if (have < sizeof bytes)
        fail_short(reader, is_end);
    reader->checksum = oif_checksum(&oif_checksum_zip, reader->checksum, bytes, have);
}

/* A wrong checksum is not a failure: it is what a crash leaves that interrupts the writing. All
 * updates were on the disk before. */
static void read_log_end(oif_section_reader *reader)
{
    unsigned char bytes[OIF_LOG_END_BYTES], expected[OIF_LOG_END_BYTES];
    read_bytes(reader, bytes, sizeof bytes);
    reader->checksum = 0;
    reader->log_end = oif_bytes_load(bytes, OIF_LOG_END_BYTES - OIF_CHECKSUM_BYTES);
    oif_log_end_encode(expected, reader->log_end);
    if (memcmp(bytes, expected, sizeof bytes) != 0)
        reader->log_end = UINT64_MAX;
}

void oif_section_reader_open(oif_section_reader *reader, oif_read_function read, void *context,
                             oif_error *error)
{
    unsigned char format[4];
    *reader = (oif_section_reader){.visitor = {read_field, read_records},
                                   .read = read,
                                   .context = context,
                                   .error = error,
                                   .end = UINT64_MAX};
    read_magic(reader);
    read_bytes(reader, format, sizeof format);
    check_checksum(reader, "the header");
    const unsigned number = (unsigned)oif_bytes_load(format, 2),
                   kind = (unsigned)oif_bytes_load(format + 2, 2);
    if (number != OIF_SNAPSHOT_FORMAT)
        oif_section_reader_fail(reader, OIF_EVERSION,
                                "the snapshot has format %u, this version of oif reads format %d",
                                number, OIF_SNAPSHOT_FORMAT);
    else if (kind > OIF_HEADER_LOG)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the header is invalid");
    reader->is_log = kind == OIF_HEADER_LOG;
    if (reader->is_log)
        read_log_end(reader);
}

static void open_section(oif_section_reader *reader)
{
    unsigned char head[OIF_SECTION_HEAD_BYTES];
    read_bytes(reader, head, sizeof head);
    check_checksum(reader, "a section's head");
    memcpy(reader->tag, head, OIF_SECTION_TAG_BYTES);
    reader->left = oif_bytes_load(head + OIF_SECTION_TAG_BYTES, 8);
    if (reader->offset > reader->end || reader->left > reader->end - reader->offset)
        oif_section_reader_fail(reader, OIF_ETRUNCATED,
                                "the snapshot is cut off: a section of %llu bytes begins here",
                                (unsigned long long)reader->left);
}

/* What a snapshot is of, by the tag of its first section. */
typedef struct snapshot_kind {
    const char *tag, *name;
    oif_cause cause; /* where another kind is expected */
} snapshot_kind;

/* NULL for other tags. */
static const snapshot_kind *kind_of_tag(const char *tag)
{
    static const snapshot_kind kinds[] = {
        {"DETE", "a detector", OIF_CAUSE_DETECTOR_SNAPSHOT},
        {"PIPE", "a pipeline", OIF_CAUSE_PIPELINE_SNAPSHOT},
        {"KEYF", "a single key of a pipeline", OIF_CAUSE_KEY_SNAPSHOT}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].tag, tag) == 0)
            return &kinds[i];
    return NULL;
}

static void fail_tag(oif_section_reader *reader, const char *expected)
{
    const snapshot_kind *is = kind_of_tag(reader->tag), *should_be = kind_of_tag(expected);
    if (is && should_be)
        fail_because(reader, OIF_EKIND, is->cause, "this is the snapshot of %s, not of %s",
                     is->name, should_be->name);
    oif_section_reader_fail(reader, OIF_EKIND,
                            "the snapshot has a section '%.4s' where '%s' was expected",
                            reader->tag, expected);
}

size_t oif_section_reader_expect_one(oif_section_reader *reader, const char *const *tags,
                                     size_t count)
{
    if (reader->status == OIF_OK)
        open_section(reader);
    for (size_t i = 0; i < count && reader->status == OIF_OK; i++)
        if (strcmp(reader->tag, tags[i]) == 0)
            return i;
    if (reader->status == OIF_OK)
        fail_tag(reader, tags[count - 1]);
    return count - 1;
}

bool oif_section_reader_expect_either(oif_section_reader *reader, const char *first,
                                      const char *tag)
{
    return oif_section_reader_expect_one(reader, (const char *const[]){first, tag}, 2) == 0;
}

void oif_section_reader_expect(oif_section_reader *reader, const char *tag)
{
    (void)oif_section_reader_expect_either(reader, tag, tag);
}

size_t oif_section_reader_take(oif_section_reader *reader, void *payload, size_t capacity)
{
    size_t length = reader->left < capacity ? (size_t)reader->left : capacity;
    if (reader->left > capacity)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the section '%s' is too long", reader->tag);
    for (size_t taken = 0, now; taken < length; taken += now) {
        now = length - taken < sizeof reader->buffer ? length - taken : sizeof reader->buffer;
        memcpy((char *)payload + taken, take_payload(reader, now), now);
    }
    oif_section_reader_end(reader);
    return reader->status == OIF_OK ? length : 0;
}

void oif_section_reader_end(oif_section_reader *reader)
{
    if (reader->left > 0)
        oif_section_reader_fail(reader, OIF_ECORRUPT, "the section '%s' is too long", reader->tag);
    reader->next = reader->filled = 0;
    check_checksum(reader, "a section");
    reader->left = 0;
}

void oif_section_reader_close(oif_section_reader *reader)
{
    char nothing[1];
    oif_section_reader_expect(reader, OIF_SECTION_END);
    oif_section_reader_take(reader, nothing, 0);
}
