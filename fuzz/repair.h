/* Repairs the checksums of a snapshot, or a fuzzer would never get past them. */
#ifndef OIF_FUZZ_REPAIR_H
#define OIF_FUZZ_REPAIR_H

#include "base/bytes.h"
#include "base/checksum.h"

enum {
    HEADER_BYTES = 12,
    LOG_END_BYTES = 8, /* of a log, after the header */
    KIND_AT = 10,      /* of the header: 1 for a log */
    SECTION_TAG_BYTES = 4,
    SECTION_HEAD_BYTES = 12,
    CHECKSUM_BYTES = 4
};

static inline void repair_checksum(uint8_t *bytes, size_t count)
{
    oif_bytes_store(bytes + count, oif_checksum(&oif_checksum_zip, 0, bytes, count),
                    CHECKSUM_BYTES);
}

static inline void repair_snapshot(uint8_t *bytes, size_t count)
{
    if (count < HEADER_BYTES + CHECKSUM_BYTES)
        return;
    repair_checksum(bytes, HEADER_BYTES);
    const bool is_log = bytes[KIND_AT] == 1;
    bytes += HEADER_BYTES + CHECKSUM_BYTES, count -= HEADER_BYTES + CHECKSUM_BYTES;
    if (is_log && count < LOG_END_BYTES + CHECKSUM_BYTES)
        return;
    if (is_log) {
        repair_checksum(bytes, LOG_END_BYTES);
        bytes += LOG_END_BYTES + CHECKSUM_BYTES, count -= LOG_END_BYTES + CHECKSUM_BYTES;
    }
    while (count >= SECTION_HEAD_BYTES + 2 * CHECKSUM_BYTES) {
        uint64_t length = oif_bytes_load(bytes + SECTION_TAG_BYTES, 8);
        repair_checksum(bytes, SECTION_HEAD_BYTES);
        bytes += SECTION_HEAD_BYTES + CHECKSUM_BYTES, count -= SECTION_HEAD_BYTES + CHECKSUM_BYTES;
        if (length > count - CHECKSUM_BYTES)
            return;
        repair_checksum(bytes, (size_t)length);
        bytes += length + CHECKSUM_BYTES, count -= (size_t)length + CHECKSUM_BYTES;
    }
}

#endif
