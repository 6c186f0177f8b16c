#include "stream_random.h"

/* splitmix64: Steele, Lea, Flood 2014. */
uint64_t stream_random_bits(uint64_t *state)
{
    uint64_t bits = *state += UINT64_C(0x9E3779B97F4A7C15);
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94D049BB133111EB);
    return bits ^ (bits >> 31);
}

double stream_random_uniform(uint64_t *state)
{
    return (double)(stream_random_bits(state) >> 11) / 9007199254740992.0;
}

/* The sum of twelve uniform numbers, of 16 bits each so three draws are enough, less its
 * mean. Whole numbers: no logarithm, whose last bit differs between machines. */
double stream_random_noise(uint64_t *state)
{
    const uint64_t twice_mean = UINT64_C(12) * 65535;
    uint64_t sum = 0;
    for (int draw = 0; draw < 3; draw++) {
        uint64_t bits = stream_random_bits(state);
        sum += (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48);
    }
    return ((double)(2 * sum) - (double)twice_mean) / 131072;
}

double stream_wave(double phase)
{
    return phase < 0.5 ? -16 * phase * (0.5 - phase) : 16 * (phase - 0.5) * (1 - phase);
}
