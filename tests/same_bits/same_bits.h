/* Shared by the two parts of same_bits: same_bits.c has the detectors, pipelines.c the pipelines
 * around them. */
#ifndef OIF_TESTS_SAME_BITS_H
#define OIF_TESTS_SAME_BITS_H

#include <oif.h>

enum { CURRENT_FORMAT = 1 };

static const uint64_t fnv_start = UINT64_C(0xcbf29ce484222325);

uint64_t hash_byte(uint64_t hash, unsigned char byte);
uint64_t hash_double(uint64_t hash, double value);

uint64_t next_random(uint64_t *state);

/* A multiple of 2^-20 in [0, 4): the sum of four, so the middle is denser than the edge. */
double next_cloud_value(uint64_t *random);

/* Ends the program after a failure; `name` is what failed. */
void require(oif_status status, const char *name, const oif_error *error);

/* `settings` as in "variant=paper growth=fixed". */
void apply_settings(oif_params *params, const char *settings);

/* The parameters of a detector, small enough for emulated machines. */
void choose_detector(const char *detector, const char *settings, oif_params *params);

/* The path of a golden snapshot. */
void golden_path(const char *folder, const char *name, char path[200]);

/* Its bytes, until the next one is read; not by the library, which may be built without files. */
const void *golden_bytes(const char *path, size_t *count);

/* ---- pipelines.c ---- */

/* Block size 1 runs straight through, others restart from a snapshot now and then. */
void run_pipelines(size_t block_size);

/* The golden snapshots: creates those that are missing, and resumes all. */
void save_golden_pipelines(const char *folder);
void run_golden_pipelines(const char *folder);

#endif
