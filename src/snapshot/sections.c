#include "snapshot/sections.h"

#include "base/bytes.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* As in PNG: a byte that is not ASCII, line ends that text-mode transfers change, and the
 * end-of-file character of DOS. */
static const unsigned char magic[8] = {0x89, 'O', 'I', 'F', '\r', '\n', 0x1A, '\n'};

enum { SECTION_HEAD_BYTES = 16, CHECKSUM_BYTES = 4 };

/* ---- Counting ---- */

static void count_field(oif_state_visitor *self, const char *name, oif_field_type type,
                        void *values, size_t count)
{
    (void)name, (void)values;
    ((oif_byte_counter *)self)->bytes += (uint64_t)count * oif_field_type_bytes(type);
}

static void count_records(oif_state_visitor *self, const oif_records *records)
{
    ((oif_byte_counter *)self)->bytes += (uint64_t)records->count * oif_record_bytes(records);
}

oif_byte_counter oif_byte_counter_new(uint32_t format)
{
    return (oif_byte_counter){.visitor = {count_field, count_records, format}};
}

/* ---- Writing ---- */

/* By whole buffers, because most fields are a few bytes. */
static void sum_up(oif_section_writer *writer)
{
    writer->checksum =
        oif_checksum(&oif_checksum_zip, writer->checksum, writer->buffer + writer->summed,
                     writer->buffered - writer->summed);
    writer->summed = writer->buffered;
}

static void flush(oif_section_writer *writer)
{
    sum_up(writer);
    const char *next = (const char *)writer->buffer;
    size_t left = writer->buffered;
    writer->buffered = writer->summed = 0;
    while (left > 0 && writer->status == OIF_OK) {
        ptrdiff_t written = writer->write(writer->context, next, left);
        if (written <= 0 || (size_t)written > left)
            writer->status = oif_fail_at(writer->error, OIF_EWRITE, 0, writer->offset - left + 1,
                                         "could not write byte %llu of the snapshot",
                                         (unsigned long long)(writer->offset - left + 1));
        else
            next += written, left -= (size_t)written;
    }
}

/* Space for the next bytes, at most the size of the buffer. */
static unsigned char *reserve(oif_section_writer *writer, size_t count)
{
    if (writer->buffered + count > sizeof writer->buffer)
        flush(writer);
    unsigned char *bytes = writer->buffer + writer->buffered;
    writer->buffered += count;
    writer->offset += count;
    return bytes;
}

/* At most as many bytes as the buffer holds. */
static void write_bytes(oif_section_writer *writer, const void *bytes, size_t count)
{
    memcpy(reserve(writer, count), bytes, count);
}

static void write_checksum(oif_section_writer *writer)
{
    unsigned char *bytes = reserve(writer, CHECKSUM_BYTES);
    writer->buffered -= CHECKSUM_BYTES;
    sum_up(writer);
    oif_bytes_store(bytes, writer->checksum, CHECKSUM_BYTES);
    writer->buffered += CHECKSUM_BYTES;
    writer->summed = writer->buffered;
    writer->checksum = 0;
}

/* Every NaN means "missing", but their bits differ between machines. */
static uint64_t bits_of_number(double number)
{
    return number == number ? oif_bits_of_double(number) : UINT64_C(0x7FF8000000000000);
}

/* Converts numbers to the byte order of the file. */
static void encode(unsigned char *bytes, oif_field_type type, const void *values, size_t count)
{
    switch (type) {
    case OIF_FIELD_U8: memcpy(bytes, values, count); break;
    case OIF_FIELD_U16:
        for (size_t i = 0; i < count; i++)
            oif_bytes_store(bytes + 2 * i, ((const uint16_t *)values)[i], 2);
        break;
    case OIF_FIELD_U32:
    case OIF_FIELD_I32:
        for (size_t i = 0; i < count; i++)
            oif_bytes_store(bytes + 4 * i, ((const uint32_t *)values)[i], 4);
        break;
    case OIF_FIELD_U64:
    case OIF_FIELD_I64:
        for (size_t i = 0; i < count; i++)
            oif_bytes_store(bytes + 8 * i, ((const uint64_t *)values)[i], 8);
        break;
    case OIF_FIELD_F64:
        for (size_t i = 0; i < count; i++)
            oif_bytes_store(bytes + 8 * i, bits_of_number(((const double *)values)[i]), 8);
    }
}

static void write_field(oif_state_visitor *self, const char *name, oif_field_type type,
                        void *values, size_t count)
{
    (void)name;
    oif_section_writer *writer = (oif_section_writer *)self;
    const unsigned char *next = values;
    size_t width = oif_field_type_bytes(type), most = sizeof writer->buffer / width;
    while (count > 0 && writer->status == OIF_OK) {
        size_t now = count < most ? count : most;
        encode(reserve(writer, now * width), type, next, now);
        next += now * width, count -= now;
    }
}

static void write_records(oif_state_visitor *self, const oif_records *records)
{
    oif_section_writer *writer = (oif_section_writer *)self;
    const size_t record_bytes = oif_record_bytes(records);
    const char *record = records->first;
    if (record_bytes > sizeof writer->buffer) { /* rows of more than 126 columns, for example */
        oif_visit_fields_of_records(self, records);
        return;
    }
    for (size_t i = 0; i < records->count && writer->status == OIF_OK; i++) {
        unsigned char *bytes = reserve(writer, record_bytes);
        for (size_t f = 0; f < records->field_count; f++) {
            const oif_field *field = &records->fields[f];
            encode(bytes, field->type, record + field->offset, field->count);
            bytes += field->count * oif_field_type_bytes(field->type);
        }
        record += records->stride;
    }
}

void oif_section_writer_open_update(oif_section_writer *writer, oif_write_function write,
                                    void *context, oif_error *error)
{
    *writer = (oif_section_writer){.visitor = {write_field, write_records, 0},
                                   .write = write,
                                   .context = context,
                                   .error = error};
}

static void write_header(oif_section_writer *writer, uint32_t format)
{
    unsigned char version[4];
    write_bytes(writer, magic, sizeof magic);
    oif_bytes_store(version, format, sizeof version);
    write_bytes(writer, version, sizeof version);
    write_checksum(writer);
}

void oif_section_writer_open(oif_section_writer *writer, oif_write_function write, void *context,
                             oif_error *error)
{
    oif_section_writer_open_update(writer, write, context, error);
    write_header(writer, OIF_SNAPSHOT_VERSION);
}

void oif_section_writer_open_log(oif_section_writer *writer, oif_write_function write,
                                 void *context, oif_error *error)
{
    unsigned char end[OIF_LOG_END_BYTES];
    oif_section_writer_open_update(writer, write, context, error);
    write_header(writer, OIF_LOG_VERSION);
    oif_log_end_encode(end, 0);
    write_bytes(writer, end, sizeof end);
    sum_up(writer);
    writer->checksum = 0;
}

void oif_log_end_encode(unsigned char bytes[OIF_LOG_END_BYTES], uint64_t end)
{
    const size_t number_bytes = OIF_LOG_END_BYTES - CHECKSUM_BYTES;
    oif_bytes_store(bytes, end, number_bytes);
    oif_bytes_store(bytes + number_bytes, oif_checksum(&oif_checksum_zip, 0, bytes, number_bytes),
                    CHECKSUM_BYTES);
}

static void begin_section(oif_section_writer *writer, const char *tag, uint32_t flags,
                          uint64_t length)
{
    unsigned char head[SECTION_HEAD_BYTES];
    memcpy(head, tag, 4);
    oif_bytes_store(head + 4, flags, 4);
    oif_bytes_store(head + 8, length, 8);
    write_bytes(writer, head, sizeof head);
    write_checksum(writer);
}

void oif_section_writer_begin(oif_section_writer *writer, const char *tag, uint64_t length)
{
    begin_section(writer, tag, 0, length);
}

void oif_section_writer_begin_optional(oif_section_writer *writer, const char *tag, uint64_t length)
{
    begin_section(writer, tag, OIF_SECTION_OPTIONAL, length);
}

void oif_section_writer_end(oif_section_writer *writer)
{
    write_checksum(writer);
}

void oif_section_writer_put(oif_section_writer *writer, const char *tag, const void *payload,
                            size_t length)
{
    oif_section_writer_begin(writer, tag, length);
    write_bytes(writer, payload, length);
    oif_section_writer_end(writer);
}

oif_status oif_section_writer_close(oif_section_writer *writer)
{
    oif_section_writer_put(writer, OIF_SECTION_END, "", 0);
    flush(writer);
    return writer->status;
}

/* ---- Reading ---- */

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
        oif_section_reader_fail(reader, OIF_EREAD, "could not read on");
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
    unsigned char bytes[CHECKSUM_BYTES];
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
    unsigned char bytes[sizeof magic];
    bool is_end = false;
    const size_t have = read_up_to(reader, bytes, sizeof bytes, &is_end);
    if (memcmp(bytes, magic, have) != 0)
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
    reader->log_end = oif_bytes_load(bytes, OIF_LOG_END_BYTES - CHECKSUM_BYTES);
    oif_log_end_encode(expected, reader->log_end);
    if (memcmp(bytes, expected, sizeof bytes) != 0)
        reader->log_end = UINT64_MAX;
}

void oif_section_reader_open(oif_section_reader *reader, oif_read_function read, void *context,
                             oif_error *error)
{
    unsigned char version[4];
    *reader = (oif_section_reader){.visitor = {read_field, read_records, 0},
                                   .read = read,
                                   .context = context,
                                   .error = error,
                                   .end = UINT64_MAX};
    read_magic(reader);
    read_bytes(reader, version, sizeof version);
    check_checksum(reader, "the header");
    uint64_t written_by = oif_bytes_load(version, sizeof version);
    if (written_by < 1 || written_by > OIF_LOG_VERSION)
        oif_section_reader_fail(reader, OIF_EVERSION,
                                "the snapshot has format %llu, this version of oif reads formats "
                                "up to %d",
                                (unsigned long long)written_by, OIF_LOG_VERSION);
    reader->is_log = written_by == OIF_LOG_VERSION;
    reader->visitor.format = reader->is_log ? OIF_SNAPSHOT_VERSION : (uint32_t)written_by;
    if (reader->is_log)
        read_log_end(reader);
}

static uint64_t open_section(oif_section_reader *reader)
{
    unsigned char head[SECTION_HEAD_BYTES];
    read_bytes(reader, head, sizeof head);
    check_checksum(reader, "a section's head");
    memcpy(reader->tag, head, 4);
    reader->left = oif_bytes_load(head + 8, 8);
    if (reader->offset > reader->end || reader->left > reader->end - reader->offset)
        oif_section_reader_fail(reader, OIF_ETRUNCATED,
                                "the snapshot is cut off: a section of %llu bytes begins here",
                                (unsigned long long)reader->left);
    return oif_bytes_load(head + 4, 4);
}

static void skip_section(oif_section_reader *reader)
{
    const size_t most = sizeof reader->buffer;
    while (reader->left > 0 && reader->status == OIF_OK)
        (void)take_payload(reader, reader->left < most ? (size_t)reader->left : most);
    oif_section_reader_end(reader);
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
    while (reader->status == OIF_OK) {
        uint64_t flags = open_section(reader);
        for (size_t i = 0; i < count && reader->status == OIF_OK; i++)
            if (strcmp(reader->tag, tags[i]) == 0)
                return i;
        if (reader->status == OIF_OK && flags & OIF_SECTION_OPTIONAL)
            skip_section(reader);
        else
            fail_tag(reader, tags[count - 1]);
    }
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
