/* Powers of five to 128 bits, computed instead of listed.
 *
 * A table of 667 constants would have to be generated, checked in and trusted. Computing it takes a
 * few lines of schoolbook arithmetic on one long natural number:
 *
 *     n >= 0    start with 1, multiply by 5 for each step       (exact: 5^324 has 753 bits)
 *     n <  0    start with 2^1023, divide by 5 for each step    (each quotient is
 *                                                                floor(2^1023 / 5^-n), since
 *                                                                dividing a floor gives a floor)
 *
 * After every step, the 128 bits from the leading one downwards are the entry. The last quotient
 * still has 1024 - 795 = 229 bits, so 128 valid bits are always there.
 *
 * The same long numbers decide the few texts that the table cannot (see number_parse.c). */

#include "base/powers_of_five.h"

#include "base/lock.h"

#include <stdatomic.h>
#include <stddef.h>

oif_natural oif_natural_from_64(uint64_t value)
{
    oif_natural number = {.limb = {(uint32_t)value, (uint32_t)(value >> 32)}};
    number.size = value >> 32 != 0 ? 2 : value != 0 ? 1 : 0;
    return number;
}

void oif_natural_multiply_and_add(oif_natural *number, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;
    for (int i = 0; i < number->size; i++) {
        carry += (uint64_t)number->limb[i] * factor;
        number->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry != 0)
        number->limb[number->size++] = (uint32_t)carry;
}

void oif_natural_multiply_by_power_of_two(oif_natural *number, int64_t n)
{
    for (; n >= 31; n -= 31)
        oif_natural_multiply_and_add(number, UINT32_C(1) << 31, 0);
    oif_natural_multiply_and_add(number, UINT32_C(1) << n, 0);
}

void oif_natural_multiply_by_power_of_five(oif_natural *number, int64_t n)
{
    const uint32_t five_to_the_13 = 1220703125; /* the largest power in a limb */
    for (; n >= 13; n -= 13)
        oif_natural_multiply_and_add(number, five_to_the_13, 0);
    for (; n > 0; n--)
        oif_natural_multiply_and_add(number, 5, 0);
}

static void divide_by_five(oif_natural *number)
{
    uint64_t remainder = 0;
    for (int i = number->size - 1; i >= 0; i--) {
        uint64_t dividend = remainder << 32 | number->limb[i];
        number->limb[i] = (uint32_t)(dividend / 5);
        remainder = dividend % 5;
    }
    while (number->size > 0 && number->limb[number->size - 1] == 0)
        number->size--;
}

int oif_natural_compare(const oif_natural *left, const oif_natural *right)
{
    if (left->size != right->size)
        return left->size < right->size ? -1 : 1;
    for (int i = left->size - 1; i >= 0; i--) {
        if (left->limb[i] != right->limb[i])
            return left->limb[i] < right->limb[i] ? -1 : 1;
    }
    return 0;
}

/* The 32 bits that start `offset` bits below the top of limb `i`; limbs below the first are
 * zero. */
static uint64_t bits_from(const oif_natural *number, int i, int offset)
{
    uint64_t upper = i >= 0 ? number->limb[i] : 0;
    uint64_t lower = i >= 1 ? number->limb[i - 1] : 0;
    return (uint32_t)((upper << 32 | lower) << offset >> 32);
}

static oif_uint128 leading_bits(const oif_natural *number)
{
    int top = number->size - 1;
    int offset = __builtin_clz(number->limb[top]);
    return (oif_uint128){
        .high = bits_from(number, top, offset) << 32 | bits_from(number, top - 1, offset),
        .low = bits_from(number, top - 2, offset) << 32 | bits_from(number, top - 3, offset),
    };
}

static oif_uint128 entries[OIF_POWER_OF_FIVE_MAX - OIF_POWER_OF_FIVE_MIN + 1];
static _Atomic(const oif_uint128 *) ready_entries;

static void compute_entries(void)
{
    oif_natural power = oif_natural_from_64(1);
    for (int n = 0; n <= OIF_POWER_OF_FIVE_MAX; n++) {
        entries[n - OIF_POWER_OF_FIVE_MIN] = leading_bits(&power);
        oif_natural_multiply_and_add(&power, 5, 0);
    }
    oif_natural reciprocal = oif_natural_from_64(1);
    oif_natural_multiply_by_power_of_two(&reciprocal, 1023);
    for (int n = -1; n >= OIF_POWER_OF_FIVE_MIN; n--) {
        divide_by_five(&reciprocal);
        entries[n - OIF_POWER_OF_FIVE_MIN] = leading_bits(&reciprocal);
    }
    atomic_store_explicit(&ready_entries, entries, memory_order_release);
}

static const oif_uint128 *compute_once(void)
{
    static oif_lock computing = OIF_LOCK_FREE;
    oif_lock_acquire(&computing);
    if (!atomic_load_explicit(&ready_entries, memory_order_relaxed))
        compute_entries();
    oif_lock_release(&computing);
    return entries;
}

const oif_uint128 *oif_powers_of_five(void)
{
    const oif_uint128 *ready = atomic_load_explicit(&ready_entries, memory_order_acquire);
    return __builtin_expect(ready == NULL, 0) ? compute_once() : ready;
}
