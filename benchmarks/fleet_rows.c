/* Prints the rows of a fleet as CSV: in each minute one row of every host. benchmarks/million.py
 * pipes them to `oif score`.
 *
 *     bench_fleet_rows HOSTS MINUTES COLUMNS
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_COLUMNS = 64, ROW_BYTES = 64 + 16 * MOST_COLUMNS, FIRST_SECONDS = 1800000000 };

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9) + UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* ",12.345678": about normal, around a level of the host. printf would take longer than oif. */
static char *print_value(char *to, uint64_t host, uint64_t random)
{
    uint64_t sum = 10000000 * (host % 7 + 1);
    for (int i = 0; i < 4; i++, random >>= 16)
        sum += (random & 0xffff) * 15; /* up to 983,025 */
    char digits[16];
    int count = 0;
    for (uint64_t left = sum; left > 0; left /= 10)
        digits[count++] = (char)('0' + left % 10);
    *to++ = ',';
    while (count > 6)
        *to++ = digits[--count];
    *to++ = '.';
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

static void print_row(uint64_t host, uint64_t minute, uint64_t columns)
{
    char row[ROW_BYTES];
    char *to =
        row + snprintf(row, 64, "%" PRIu64 ",host-%07" PRIu64, FIRST_SECONDS + 60 * minute, host);
    for (uint64_t column = 0; column < columns; column++)
        to = print_value(to, host, mix((host << 32 | minute) * MOST_COLUMNS + column));
    *to++ = '\n';
    fwrite(row, 1, (size_t)(to - row), stdout);
}

int main(int count, char **arguments)
{
    const uint64_t hosts = count == 4 ? strtoull(arguments[1], NULL, 10) : 0,
                   minutes = count == 4 ? strtoull(arguments[2], NULL, 10) : 0,
                   columns = count == 4 ? strtoull(arguments[3], NULL, 10) : 0;
    if (hosts == 0 || columns == 0 || columns > MOST_COLUMNS) {
        fprintf(stderr, "usage: bench_fleet_rows HOSTS MINUTES COLUMNS\n");
        return 2;
    }
    printf("time,host");
    for (uint64_t column = 0; column < columns; column++)
        printf(",c%" PRIu64, column);
    printf("\n");
    for (uint64_t minute = 0; minute < minutes; minute++)
        for (uint64_t host = 0; host < hosts && !ferror(stdout); host++)
            print_row(host, minute, columns);
    return fflush(stdout) == 0 ? 0 : 1;
}
