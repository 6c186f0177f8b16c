/* A snapshot as a sequence of sections, written and read front to back (docs/snapshot-format.md):
 *
 *     header    | magic | format | kind | checksum |
 *     section   | tag | length | checksum | payload of `length` bytes | checksum |
 *     ...
 *     section   with the tag "END " and no payload
 *
 * A log is a snapshot that updates may follow, each as sections up to another "END ". Behind its
 * header it has the end of the last complete update: | end | checksum |. Bytes after that end are
 * what a crash has left of a save, and mean nothing.
 *
 * Writer and reader keep the first failure and do nothing after it, so callers need not check every
 * call. The fields of a payload are written and read through visitors.
 */
#ifndef OIF_SNAPSHOT_SECTIONS_H
#define OIF_SNAPSHOT_SECTIONS_H

#include "base/checksum.h"
#include "base/state_visitor.h"
#include "oif.h"

enum {
    OIF_SNAPSHOT_FORMAT = 1,
    OIF_HEADER_SNAPSHOT = 0, /* the kind */
    OIF_HEADER_LOG = 1,
    OIF_SNAPSHOT_MAGIC_BYTES = 8,
    OIF_SNAPSHOT_HEADER_BYTES = 16,
    OIF_LOG_END_BYTES = 12, /* after the header */
    OIF_SECTION_TAG_BYTES = 4,
    OIF_SECTION_HEAD_BYTES = 12,
    OIF_CHECKSUM_BYTES = 4,
    OIF_SECTION_BYTES = 20,          /* of a section without payload */
    OIF_SNAPSHOT_BUFFER_BYTES = 2048 /* on the stack */
};

#define OIF_SECTION_END "END "

extern const unsigned char oif_snapshot_magic[OIF_SNAPSHOT_MAGIC_BYTES];

/* A visitor that adds up the bytes of fields in a snapshot. */
typedef struct oif_byte_counter {
    oif_state_visitor visitor;
    uint64_t bytes;
} oif_byte_counter;

oif_byte_counter oif_byte_counter_new(void);

/* ---- Writing ---- */

typedef struct oif_section_writer {
    oif_state_visitor visitor; /* writes fields */
    oif_write_function write;
    void *context;
    oif_error *error;
    oif_status status;
    uint64_t offset;   /* bytes written or in the buffer */
    uint32_t checksum; /* of the bytes up to `summed` in the buffer */
    size_t buffered, summed;
    unsigned char buffer[OIF_SNAPSHOT_BUFFER_BYTES];
} oif_section_writer;

/* Writes the header. */
void oif_section_writer_open(oif_section_writer *writer, oif_write_function write, void *context,
                             oif_error *error);

/* The same for a log, whose end is to be written when it is known, and for an update without a
 * header. */
void oif_section_writer_open_log(oif_section_writer *writer, oif_write_function write,
                                 void *context, oif_error *error);
void oif_section_writer_open_update(oif_section_writer *writer, oif_write_function write,
                                    void *context, oif_error *error);

/* The end of a log as it is in its header. */
void oif_log_end_encode(unsigned char bytes[OIF_LOG_END_BYTES], uint64_t end);

/* Writes a whole section. */
void oif_section_writer_put(oif_section_writer *writer, const char *tag, const void *payload,
                            size_t length);

/* Begins a section. Fields of `length` bytes must follow, then the end. */
void oif_section_writer_begin(oif_section_writer *writer, const char *tag, uint64_t length);
void oif_section_writer_end(oif_section_writer *writer);

/* Flushes the buffer: others continue the snapshot. Returns the first failure or OIF_OK. */
oif_status oif_section_writer_pause(oif_section_writer *writer);

/* Writes the last section and flushes the buffer. Returns the first failure or OIF_OK. */
oif_status oif_section_writer_close(oif_section_writer *writer);

/* ---- Reading ---- */

typedef struct oif_section_reader {
    oif_state_visitor visitor; /* reads fields */
    oif_read_function read;
    void *context;
    oif_error *error;
    oif_status status;
    uint64_t offset; /* bytes read */
    uint64_t end;    /* bytes available; UINT64_MAX if unknown */
    bool is_log;
    uint64_t log_end; /* of a log; UINT64_MAX if writing it was interrupted: where the file ends */
    uint32_t checksum;
    char tag[5];         /* of the open section */
    uint64_t left;       /* bytes of its payload not yet taken, buffered or not */
    size_t next, filled; /* buffered bytes: buffer[next] up to buffer[filled] */
    unsigned char buffer[OIF_SNAPSHOT_BUFFER_BYTES];
} oif_section_reader;

/* Reads the header. Never reads a byte past the end of the last section. */
void oif_section_reader_open(oif_section_reader *reader, oif_read_function read, void *context,
                             oif_error *error);

/* Opens the next section, which must have this tag.
 *
 * OIF_EKIND   it has another tag */
void oif_section_reader_expect(oif_section_reader *reader, const char *tag);

/* The same, if one of `count` may come. Returns which; after a failure, the last. */
size_t oif_section_reader_expect_one(oif_section_reader *reader, const char *const *tags,
                                     size_t count);

/* The same, if a section `first` may come before it. Returns whether it is `first`. */
bool oif_section_reader_expect_either(oif_section_reader *reader, const char *first,
                                      const char *tag);

/* Reads the whole payload of the open section, of at most `capacity` bytes, verifies its
 * checksum and closes the section. Returns the length of the payload, 0 after a failure. */
size_t oif_section_reader_take(oif_section_reader *reader, void *payload, size_t capacity);

/* Closes a section whose fields were read through the visitor. Verifies the checksum, and that no
 * field is left. */
void oif_section_reader_end(oif_section_reader *reader);

/* Reads the last section. */
void oif_section_reader_close(oif_section_reader *reader);

/* Fails at the current position, unless the reader has already failed. */
void oif_section_reader_fail(oif_section_reader *reader, oif_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
