/* The fields of an object as the difference from a blank object of the same kind: what keys have
 * in common is not stored, and what they learn takes few bytes.
 *
 *     fields of the blank object   0    0     inf   inf   0   0  0
 *     fields of the object         0    12.5  12.5  inf   3   4  0
 *     packed                  skip 1 | 12.5 | again | skip 1 | 3 | +1 | skip 1
 *
 * A value is a token and the bytes that the token announces (docs/snapshot-format.md):
 *
 *     00 .. 39   a new value: 8 x the leading bytes that it shares with the value before + its
 *                trailing zero bytes; the bytes between them follow. But:
 *     17         records follow that are not all blank
 *     1E, 1F     the cut of a tree, as the random number that it was drawn with
 *     3A .. 3E   1 to 5 values are those of the blank object
 *     3F         the same, and their number follows
 *     40 .. 4F   one of the last 4,096 values, by its hash; 8 bits of it follow
 *     50 .. 7F   the value before - 24 .. + 23
 *     80 .. FF   one of the last 128 values, by its hash
 *
 * Records, such as the nodes of trees, are packed value by value: first all lows, then all highs,
 * .. Blank records take no tokens:
 *
 *     nodes    | blank 0, count 3 | low low low | high high high | cut cut cut | column .. |
 *
 * rolling-iforest with 3 columns has 240 KB of fields, packed 10 KB after 100 rows. Tokens are of
 * whole bytes, because a fleet of 100,000 keys has to be loaded in seconds.
 */
#ifndef OIF_SNAPSHOT_PACKED_FIELDS_H
#define OIF_SNAPSHOT_PACKED_FIELDS_H

#include "base/state_visitor.h"

enum { OIF_PACKED_NEAR_VALUES = 128, OIF_PACKED_FAR_VALUES = 4096, OIF_PACKED_SPARE_BYTES = 16 };

/* The random numbers that cuts were drawn with. Unpacking needs only the state. */
typedef struct oif_packed_draws {
    uint64_t state;      /* after the cut found last, or before all */
    uint64_t last_state; /* after the last draw of all */
    bool are_known;      /* a cut may be found */
    bool has_state;      /* written with a cut, so others follow it */
    uint32_t searches;   /* far from the cut before */
    uint32_t misses;     /* cuts not found since the last one that was */
} oif_packed_draws;

/* Visitors that pack and unpack. About 34 KB, too large for the stack. */
typedef struct oif_field_packer {
    oif_state_visitor visitor;
    const unsigned char *blank; /* fields of the blank object, as in memory */
    unsigned char *next, *end;  /* packed bytes */
    uint64_t skipped;           /* packing: values not yet written, as they are blank;
                                   unpacking: that are still to skip */
    bool is_broken;             /* packing: no room; unpacking: not what packing writes */
    oif_packed_draws draws;
    /* For each width in bytes: the value before, and some of the last ones by their hashes. */
    uint64_t previous[9], near[9][OIF_PACKED_NEAR_VALUES];
    uint64_t far[OIF_PACKED_FAR_VALUES]; /* of all widths */
} oif_field_packer;

/* Begins to copy the fields of the blank object to `blank`. */
void oif_field_packer_copy(oif_field_packer *packer, unsigned char *blank, size_t bytes);

/* Begins to pack fields, compared with those in `blank`. */
void oif_field_packer_pack(oif_field_packer *packer, const unsigned char *blank,
                           unsigned char *packed, size_t capacity);

/* Ends it. Returns the number of bytes; 0 if they do not fit. */
size_t oif_field_packer_end(oif_field_packer *packer, const unsigned char *packed);

/* Begins to unpack fields into an object that is blank. OIF_PACKED_SPARE_BYTES must be readable
 * after the packed ones. */
void oif_field_packer_unpack(oif_field_packer *packer, const unsigned char *packed, size_t count);

/* After all fields were visited: whether the bytes were theirs, all of them. */
bool oif_field_packer_is_whole(const oif_field_packer *packer);

/* Adds the fields to a checksum, the same on every machine. */
typedef struct oif_field_summer {
    oif_state_visitor visitor;
    uint32_t checksum;
} oif_field_summer;

oif_field_summer oif_field_summer_new(void);

#endif
