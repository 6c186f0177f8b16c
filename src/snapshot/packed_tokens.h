/* What packing and unpacking share (pack_fields.c, unpack_fields.c): tokens and values. */
#ifndef OIF_SNAPSHOT_PACKED_TOKENS_H
#define OIF_SNAPSHOT_PACKED_TOKENS_H

#include "base/bytes.h"
#include "base/vector.h"
#include "snapshot/packed_fields.h"

#include <string.h>

/* See packed_fields.h. A new value shares and ends in at most as many bytes as it has, so some
 * numbers below SKIP_ONE are free. */
enum {
    RECORDS = 0x17,
    DRAWN = 0x1E,
    DRAWN_FROM = 0x1F,
    SKIP_ONE = 0x3A,
    SKIP_MANY = 0x3F,
    FAR_VALUE = 0x40,
    STEP = 0x50,
    STEP_ZERO = STEP + 24,
    NEAR_VALUE = 0x80
};

enum { WORD_BYTES = 8, NEAR_BITS = 7, FAR_BITS = 12, MOST_SHARED_BYTES = 7, MOST_DRAWS = 255 };

/* Begins to write to these bytes, or to read them. */
static inline void begin_packing(oif_field_packer *p, unsigned char *bytes, size_t count)
{
    memset(p, 0, sizeof *p);
    p->next = bytes;
    p->end = bytes + count;
}

static inline uint64_t mask_of(size_t width)
{
    static const uint64_t masks[] = {0,
                                     UINT64_MAX >> 56,
                                     UINT64_MAX >> 48,
                                     UINT64_MAX >> 40,
                                     UINT64_MAX >> 32,
                                     UINT64_MAX >> 24,
                                     UINT64_MAX >> 16,
                                     UINT64_MAX >> 8,
                                     UINT64_MAX};
    return masks[width];
}

static inline size_t hash_of(uint64_t value, unsigned bits)
{
    return (size_t)(value * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits));
}

/* Reads a number of 7 bits per byte, little end first; UINT64_MAX if it has more than 8 bytes. */
static inline uint64_t take_count(const unsigned char **next)
{
    uint64_t count = 0;
    for (unsigned shift = 0; shift < 56; shift += 7) {
        const size_t byte = *(*next)++;
        count |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return count;
    }
    return UINT64_MAX;
}

/* ---- Records ---- */

/* Records that are blank, and those after them that are not. */
typedef struct record_run {
    uint64_t blank, count;
} record_run;

static inline record_run take_run(const unsigned char **next)
{
    const uint64_t blank = take_count(next);
    return (record_run){blank, take_count(next)};
}

static inline size_t values_of_record(const oif_records *records)
{
    size_t values = 0;
    for (size_t f = 0; f < records->field_count; f++)
        values += records->fields[f].count;
    return values;
}

/* The same value of all records, one after another. */
typedef struct lane {
    oif_field_type type;
    size_t offset, width;
    bool is_cut; /* behind two other numbers, so it may be a cut that was drawn between them */
} lane;

static inline lane lane_of(const oif_records *records, size_t f, size_t i)
{
    const oif_field *field = &records->fields[f];
    const size_t width = oif_field_type_bytes(field->type);
    const bool is_cut = f >= 2 && field->type == OIF_FIELD_F64 && field->count == 1 &&
                        field[-1].type == OIF_FIELD_F64 && field[-2].type == OIF_FIELD_F64 &&
                        field[-1].offset + width == field->offset &&
                        field[-2].offset + 2 * width == field->offset;
    return (lane){field->type, field->offset + i * width, width, is_cut};
}

/* Values of two bytes without the top bit are nodes of a tree, mostly children of the record that
 * they are in. So they are stored as the difference from its number in the run. */
static inline uint64_t relative_of(uint64_t value, uint64_t number)
{
    return value < 0x8000 ? (value - number) & 0x7FFF : value;
}

static inline uint64_t absolute_of(uint64_t value, uint64_t number)
{
    return value < 0x8000 ? (value + number) & 0x7FFF : value;
}

#endif
