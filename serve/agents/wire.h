/* The wire format of protocol buffers: fields with a number and one of four types.
 *
 *     tag = number << 3 | type     varint, 8 bytes, a length and that many bytes, or 4 bytes
 *
 * A reader points into the message and never allocates. Every length is checked before it is used.
 * After the last field, and at the first malformed one, wire_next returns false: is_bad says
 * which. */
#ifndef OIF_SERVE_WIRE_H
#define OIF_SERVE_WIRE_H

#include "oif_rows.h"

#include <stdbool.h>

typedef enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 } wire_type;

typedef struct wire_message {
    const unsigned char *at, *end;
    bool is_bad;
} wire_message;

typedef struct wire_field {
    uint32_t number;
    wire_type type;
    uint64_t value; /* of a varint and of fixed bytes */
    oif_text bytes; /* of WIRE_BYTES */
} wire_field;

wire_message wire_open(oif_text bytes);
bool wire_next(wire_message *message, wire_field *field);

/* Whether a field has this number and type; a field of another type is skipped. */
bool wire_is(const wire_field *field, uint32_t number, wire_type type);

/* A double, and a signed number of a varint: both as the bits are. */
double wire_double(const wire_field *field);
int64_t wire_signed(const wire_field *field);

#endif
