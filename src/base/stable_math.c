#include "base/stable_math.h"

#include <float.h>
#include <stdint.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 1
#error "oif needs IEEE double arithmetic without extra precision: on 32-bit x86 add -msse2 -mfpmath=sse"
#endif

static const int mantissa_bits = 52;
static const int exponent_bias = 1023;

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t to_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* x = m 2^e with m in [sqrt(1/2), sqrt(2)), then log(m) = 2 atanh(s) with s = (m - 1) / (m + 1). As |s| < 0.172,
 * eleven terms of the series s + s^3/3 + s^5/5 + ... reach double precision. */
double oif_log2(double x)
{
    const double two_over_ln2 = 0x1.71547652b82fep+1;
    const double sqrt2 = 0x1.6a09e667f3bcdp+0;
    uint64_t bits = to_bits(x);
    int exponent = (int)(bits >> mantissa_bits) - exponent_bias;
    double m = from_bits((bits & ((UINT64_C(1) << mantissa_bits) - 1)) |
                         (uint64_t)exponent_bias << mantissa_bits);
    if (m >= sqrt2) {
        m *= 0.5;
        exponent++;
    }
    double s = (m - 1.0) / (m + 1.0), s2 = s * s, sum = 1.0 / 21;
    for (int term = 19; term >= 1; term -= 2)
        sum = sum * s2 + 1.0 / term;
    return (double)exponent + two_over_ln2 * (s * sum);
}

/* x = k + f with |f| <= 1/2; 2^f by its Taylor series, in pairs so that the processor can overlap them. */
double oif_exp2(double x)
{
    if (x < -1021.0)
        return 0.0;
    int64_t k = (int64_t)(x + (x < 0 ? -0.5 : 0.5));
    double f = x - (double)k, f2 = f * f, f4 = f2 * f2, f8 = f4 * f4;
    /* ln(2)^i / i! */
    double c01 = 1.0 + 0x1.62e42fefa39efp-1 * f;
    double c23 = 0x1.ebfbdff82c58fp-3 + 0x1.c6b08d704a0cp-5 * f;
    double c45 = 0x1.3b2ab6fba4e77p-7 + 0x1.5d87fe78a6731p-10 * f;
    double c67 = 0x1.430912f86c787p-13 + 0x1.ffcbfc588b0c7p-17 * f;
    double c89 = 0x1.62c0223a5c824p-20 + 0x1.b5253d395e7c4p-24 * f;
    double cab = 0x1.e4cf5158b8ecap-28 + 0x1.e8cac7351bb25p-32 * f;
    double ccd = 0x1.c3bd650fc2986p-36 + 0x1.816193166d0f9p-40 * f;
    double low = (c01 + c23 * f2) + (c45 + c67 * f2) * f4;
    double high = (c89 + cab * f2) + ccd * f4;
    return (low + high * f8) * from_bits((uint64_t)(k + exponent_bias) << mantissa_bits);
}
