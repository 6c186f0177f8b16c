/* log2 and exp2 that give the same bits everywhere. libm's results differ between machines and
 * versions; these use only IEEE additions, multiplications and a division, whose results are
 * exactly defined. They have no branches, so loops over arrays are vectorised with the same
 * results. */
#ifndef OIF_BASE_STABLE_MATH_H
#define OIF_BASE_STABLE_MATH_H

#include "base/double_bits.h"

#include <float.h>
#include <stdbool.h>

#if FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 1
#error "oif needs IEEE double arithmetic; on 32-bit x86 add -msse2 -mfpmath=sse"
#endif

/* All ones if the condition holds: a selection without a branch. */
static inline uint64_t oif_mask(bool condition)
{
    return 0 - (uint64_t)condition;
}

/* One instruction with a result defined by IEEE 754; -fno-math-errno avoids libm. */
static inline double oif_sqrt(double x)
{
    return __builtin_sqrt(x);
}

/* For a positive, normal number. Absolute error below 2^-50, relative error as small near 1.
 *
 * x = m 2^e with m in [sqrt(1/2), sqrt(2)); log(m) = 2 atanh(s) with s = (m - 1) / (m + 1). As |s|
 * < 0.172, eleven terms of the series s + s^3/3 + s^5/5 + ... reach double precision. */
static inline double oif_log2(double x)
{
    const double two_over_ln2 = 0x1.71547652b82fep+1, sqrt2 = 0x1.6a09e667f3bcdp+0;
    const uint64_t mantissa_bits = 52, mantissa = (UINT64_C(1) << 52) - 1;
    const uint64_t bits_of_1 = UINT64_C(1023) << 52, bits_of_2_52 = UINT64_C(1075) << 52;
    uint64_t bits = oif_bits_of_double(x);
    /* The exponent as a double, without a conversion: it becomes the last bits of 2^52 +
     * exponent. */
    double exponent = oif_double_from_bits(bits >> mantissa_bits | bits_of_2_52) - (0x1p52 + 1023);
    double m = oif_double_from_bits((bits & mantissa) | bits_of_1);
    uint64_t halve = oif_mask(m >= sqrt2);
    exponent += oif_double_from_bits(bits_of_1 & halve);
    m = oif_double_from_bits(oif_bits_of_double(m) - (halve & UINT64_C(1) << 52));
    double s = (m - 1.0) / (m + 1.0), s2 = s * s, s4 = s2 * s2, s8 = s4 * s4;
    double t0 = 1.0 + s2 * (1.0 / 3), t1 = 1.0 / 5 + s2 * (1.0 / 7), t2 = 1.0 / 9 + s2 * (1.0 / 11);
    double t3 = 1.0 / 13 + s2 * (1.0 / 15), t4 = 1.0 / 17 + s2 * (1.0 / 19) + s4 * (1.0 / 21);
    double sum = (t0 + t1 * s4) + ((t2 + t3 * s4) + t4 * s8) * s8;
    return exponent + two_over_ln2 * (s * sum);
}

/* For a number up to 1023. Relative error below 2^-50; 0 below 2^-1021.
 *
 * x = k + f with |f| <= 1/2; 2^f by its Taylor series, in pairs so the processor can overlap
 * them. */
static inline double oif_exp2(double x)
{
    /* its last bit has the value 1, so adding it rounds to a whole number */
    const double rounder = 0x1.8p52;
    double shifted = x + rounder, f = x - (shifted - rounder), f2 = f * f, f4 = f2 * f2,
           f8 = f4 * f4;
    double power_of_2 = oif_double_from_bits((oif_bits_of_double(shifted) + 1023) << 52);
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
    return oif_double_from_bits(oif_bits_of_double((low + high * f8) * power_of_2) &
                                oif_mask(x >= -1021.0));
}

#endif
