#include "base/checksum.h"

static void fill_table(oif_checksum_table *table, uint32_t polynomial)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; bit++)
            value = value >> 1 ^ (value & 1 ? polynomial : 0);
        table->step[0][byte] = value;
    }
    for (int k = 1; k < 8; k++)
        for (int byte = 0; byte < 256; byte++) {
            uint32_t before = table->step[k - 1][byte];
            table->step[k][byte] = before >> 8 ^ table->step[0][before & 0xFF];
        }
}

void oif_checksum_table_init(oif_checksum_table *table)
{
    fill_table(table, UINT32_C(0xEDB88320));
}

void oif_checksum_table_init_castagnoli(oif_checksum_table *table)
{
    fill_table(table, UINT32_C(0x82F63B78));
}

uint32_t oif_checksum(const oif_checksum_table *table, uint32_t checksum, const void *bytes,
                      size_t count)
{
    const unsigned char *next = bytes;
    const uint32_t(*step)[256] = table->step;
    uint32_t sum = ~checksum;
    for (; count >= 8; count -= 8, next += 8)
        sum = step[7][(sum ^ next[0]) & 0xFF] ^ step[6][(sum >> 8 ^ next[1]) & 0xFF] ^
              step[5][(sum >> 16 ^ next[2]) & 0xFF] ^ step[4][(sum >> 24 ^ next[3]) & 0xFF] ^
              step[3][next[4]] ^ step[2][next[5]] ^ step[1][next[6]] ^ step[0][next[7]];
    for (; count > 0; count--, next++)
        sum = sum >> 8 ^ step[0][(sum ^ *next) & 0xFF];
    return ~sum;
}
