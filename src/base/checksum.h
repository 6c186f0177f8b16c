/* CRC-32 as in zip, png and zlib: finds every error of up to 32 bits in a row, and all but one
 * in 2^32 of the others. */
#ifndef OIF_BASE_CHECKSUM_H
#define OIF_BASE_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Filled before use rather than at first use, so that threads need not agree who does it; takes
 * some microseconds. */
typedef struct oif_checksum_table {
    /* step[k][byte]: what a byte does to the checksum when k bytes follow it */
    uint32_t step[8][256];
    bool may_fold; /* the machine can, and knows how for this polynomial */
} oif_checksum_table;

void oif_checksum_table_init(oif_checksum_table *table);

/* CRC-32C, as in iSCSI: for bytes that end with a CRC-32 of their own, whose CRC-32 is the same
 * whatever they are. */
void oif_checksum_table_init_castagnoli(oif_checksum_table *table);

/* The checksum of some bytes, given that of the bytes before them; 0 at the start. */
uint32_t oif_checksum(const oif_checksum_table *table, uint32_t checksum, const void *bytes,
                      size_t count);

#endif
