/* log2 and exp2 that give the same bits everywhere. libm's differ between machines and versions; these use only
 * IEEE additions, multiplications and one division, each of which has one correct result. */
#ifndef OIF_BASE_STABLE_MATH_H
#define OIF_BASE_STABLE_MATH_H

/* Of a positive, normal number; absolute error under 2^-50, relative error near 1 as small. */
double oif_log2(double x);

/* Of a number up to 1023; relative error under 2^-50, 0 below 2^-1021. */
double oif_exp2(double x);

#endif
