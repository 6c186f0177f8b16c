#include "base/bytes.h"
#include "base/error.h"
#include "snapshot/sections.h"

#include <string.h>

/* As in PNG: a byte that is not ASCII, line ends that text-mode transfers change, and the
 * end-of-file character of DOS. */
const unsigned char oif_snapshot_magic[OIF_SNAPSHOT_MAGIC_BYTES] = {0x89, 'o',  'i',  'f',
                                                                    '\r', '\n', 0x1A, '\n'};

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

oif_byte_counter oif_byte_counter_new(void)
{
    return (oif_byte_counter){.visitor = {count_field, count_records}};
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
    unsigned char *bytes = reserve(writer, OIF_CHECKSUM_BYTES);
    writer->buffered -= OIF_CHECKSUM_BYTES;
    sum_up(writer);
    oif_bytes_store(bytes, writer->checksum, OIF_CHECKSUM_BYTES);
    writer->buffered += OIF_CHECKSUM_BYTES;
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
    *writer = (oif_section_writer){.visitor = {write_field, write_records},
                                   .write = write,
                                   .context = context,
                                   .error = error};
}

static void write_header(oif_section_writer *writer, uint32_t kind)
{
    unsigned char format[4];
    write_bytes(writer, oif_snapshot_magic, sizeof oif_snapshot_magic);
    oif_bytes_store(format, OIF_SNAPSHOT_FORMAT, 2);
    oif_bytes_store(format + 2, kind, 2);
    write_bytes(writer, format, sizeof format);
    write_checksum(writer);
}

void oif_section_writer_open(oif_section_writer *writer, oif_write_function write, void *context,
                             oif_error *error)
{
    oif_section_writer_open_update(writer, write, context, error);
    write_header(writer, OIF_HEADER_SNAPSHOT);
}

void oif_section_writer_open_log(oif_section_writer *writer, oif_write_function write,
                                 void *context, oif_error *error)
{
    unsigned char end[OIF_LOG_END_BYTES];
    oif_section_writer_open_update(writer, write, context, error);
    write_header(writer, OIF_HEADER_LOG);
    oif_log_end_encode(end, 0);
    write_bytes(writer, end, sizeof end);
    sum_up(writer);
    writer->checksum = 0;
}

void oif_log_end_encode(unsigned char bytes[OIF_LOG_END_BYTES], uint64_t end)
{
    const size_t number_bytes = OIF_LOG_END_BYTES - OIF_CHECKSUM_BYTES;
    oif_bytes_store(bytes, end, number_bytes);
    oif_bytes_store(bytes + number_bytes, oif_checksum(&oif_checksum_zip, 0, bytes, number_bytes),
                    OIF_CHECKSUM_BYTES);
}

void oif_section_writer_begin(oif_section_writer *writer, const char *tag, uint64_t length)
{
    unsigned char head[OIF_SECTION_HEAD_BYTES];
    memcpy(head, tag, OIF_SECTION_TAG_BYTES);
    oif_bytes_store(head + OIF_SECTION_TAG_BYTES, length, 8);
    write_bytes(writer, head, sizeof head);
    write_checksum(writer);
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

oif_status oif_section_writer_pause(oif_section_writer *writer)
{
    flush(writer);
    return writer->status;
}

oif_status oif_section_writer_close(oif_section_writer *writer)
{
    oif_section_writer_put(writer, OIF_SECTION_END, "", 0);
    flush(writer);
    return writer->status;
}
