/* A snapshot as a sequence of sections, written and read from front to back
 * (docs/snapshot-format.md):
 *
 *     header    | magic | version | checksum |
 *     section   | tag | flags | length | checksum | payload of `length` bytes | checksum |
 *     ...
 *     section   with the tag "END " and no payload
 *
 * Writer and reader remember the first failure and do nothing more from then on, so that their
 * users need not look after every call.
 */
#ifndef OIF_SNAPSHOT_SECTIONS_H
#define OIF_SNAPSHOT_SECTIONS_H

#include "base/checksum.h"
#include "base/state_visitor.h"
#include "oif.h"

enum {
    OIF_SNAPSHOT_VERSION = 1,
    OIF_SNAPSHOT_HEADER_BYTES = 16,
    OIF_SECTION_BYTES = 24,   /* that a section has beyond its payload */
    OIF_SECTION_OPTIONAL = 1, /* a flag: whoever does not know the tag may skip the section */
    OIF_SNAPSHOT_BUFFER_BYTES = 8192
};

#define OIF_SECTION_END "END "

/* A visitor of fields that adds up the bytes they take in a snapshot. */
typedef struct oif_byte_counter {
    oif_state_visitor visitor;
    uint64_t bytes;
} oif_byte_counter;

oif_byte_counter oif_byte_counter_new(void);

/* ---- Writing ---- */

typedef struct oif_snapshot_writer {
    oif_state_visitor visitor; /* a visitor that writes */
    oif_write_function write;
    void *context;
    oif_error *error;
    oif_status status;
    uint64_t offset; /* bytes written or in the buffer */
    uint32_t checksum;
    size_t buffered;
    unsigned char buffer[OIF_SNAPSHOT_BUFFER_BYTES];
    oif_checksum_table table;
} oif_snapshot_writer;

/* Writes the header. */
void oif_writer_open(oif_snapshot_writer *writer, oif_write_function write, void *context,
                     oif_error *error);

/* Writes a section whose payload is at hand, or begins one that then has to get `length` bytes
 * of fields. */
void oif_writer_section(oif_snapshot_writer *writer, const char *tag, const void *payload,
                        size_t length);
void oif_writer_begin(oif_snapshot_writer *writer, const char *tag, uint64_t length);
void oif_writer_begin_optional(oif_snapshot_writer *writer, const char *tag, uint64_t length);
void oif_writer_end(oif_snapshot_writer *writer);

/* Writes the last section and what is left in the buffer; returns the first failure or OIF_OK. */
oif_status oif_writer_close(oif_snapshot_writer *writer);

/* ---- Reading ---- */

typedef struct oif_snapshot_reader {
    oif_state_visitor visitor; /* a visitor that reads */
    oif_read_function read;
    void *context;
    oif_error *error;
    oif_status status;
    uint64_t offset; /* bytes read */
    uint64_t end;    /* bytes that there are; UINT64_MAX while nobody knows */
    uint32_t checksum;
    char tag[5];   /* of the section that is open ... */
    uint64_t left; /* ... and how many bytes of its payload are still to be read */
    oif_checksum_table table;
} oif_snapshot_reader;

/* Reads the header. Never asks for a byte past the end of the last section. */
void oif_snapshot_open(oif_snapshot_reader *reader, oif_read_function read, void *context,
                       oif_error *error);

/* Opens the next section; skips those that may be skipped and are not this one. OIF_EKIND when
 * it is another. */
void oif_snapshot_expect(oif_snapshot_reader *reader, const char *tag);

/* The same where another one may come first; returns whether it is that which is open. */
bool oif_snapshot_expect_either(oif_snapshot_reader *reader, const char *first, const char *tag);

/* Reads the whole payload of the open section, of at most `capacity` bytes, and closes it.
 * Returns its length. The bytes are known to be those that were written. */
size_t oif_snapshot_take(oif_snapshot_reader *reader, void *payload, size_t capacity);

/* Closes a section that was read through `fields`: nothing may be left, and the checksum has to
 * be right. */
void oif_snapshot_end(oif_snapshot_reader *reader);

/* Reads the last section. */
void oif_snapshot_close(oif_snapshot_reader *reader);

/* Fails at the place that was read last; keeps the first failure. */
void oif_snapshot_fail(oif_snapshot_reader *reader, oif_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
