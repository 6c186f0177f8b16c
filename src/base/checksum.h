/* CRC-32 as in zip, png and zlib. Detects every burst of errors up to 32 bits long, and all but one
 * in 2^32 of the others. */
#ifndef OIF_BASE_CHECKSUM_H
#define OIF_BASE_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct oif_checksum_table {
    /* step[k][byte]: effect of a byte on the checksum if k bytes follow it */
    uint32_t step[8][256];
    bool has_factors; /* to fold bytes, for machines that have the instruction */
} oif_checksum_table;

extern const oif_checksum_table oif_checksum_zip;

/* CRC-32C, as in iSCSI. For bytes that end with their own CRC-32: with that, their CRC-32 is a
 * constant. Filled before use, not on first use, so threads need no lock; takes a few
 * microseconds. */
void oif_checksum_table_init_castagnoli(oif_checksum_table *table);

/* The checksum of some bytes, given the checksum of the bytes before them; 0 at the start. */
uint32_t oif_checksum(const oif_checksum_table *table, uint32_t checksum, const void *bytes,
                      size_t count);

#endif
