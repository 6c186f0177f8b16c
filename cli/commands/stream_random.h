/* Random numbers and waves for synthetic streams: the same on every machine, because they are made
 * of whole numbers and of nothing but + - * / on doubles. */
#ifndef OIF_CLI_STREAM_RANDOM_H
#define OIF_CLI_STREAM_RANDOM_H

#include <stdint.h>

/* The state is any number: the seed. */
uint64_t stream_random_bits(uint64_t *state);

/* From 0, included, to 1, excluded. */
double stream_random_uniform(uint64_t *state);

/* Mean 0, deviation 1, never beyond 6: near enough to a normal distribution for noise. */
double stream_random_noise(uint64_t *state);

/* Lowest, -1, at the phase 0.25, and highest, 1, at 0.75: parabolas, as the last bit of a sine
 * differs between machines. */
double stream_wave(double phase);

#endif
