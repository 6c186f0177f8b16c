/* How many rows a key needs until it can be judged: found out by trying, on rows of noise. That is
 * true for every detector and every combination of settings, and takes some milliseconds, once for
 * all streams with the same ones. */
#include "stream_parts.h"

#include <string.h>

enum { TRIAL_ROWS_MAX = 4096, TRIALS_KEPT = 16 };

static const double trial_step_seconds = 60;
static const size_t largest_trial_bytes = 16 << 20;

typedef struct trial {
    uint64_t settings; /* hash; 0: unused */
    double rows;
} trial;

static pthread_mutex_t trials_lock = PTHREAD_MUTEX_INITIALIZER;
static trial trials[TRIALS_KEPT];
static size_t next_trial;

static uint64_t hash_params(uint64_t hash, const oif_params *params)
{
    hash = byte_hash(hash, params->table->name, strlen(params->table->name));
    return byte_hash(hash, params->values, sizeof params->values);
}

static uint64_t hash_settings(const run_settings *settings)
{
    return hash_params(hash_params(BYTE_HASH_START, &settings->params), &settings->options) | 1;
}

/* About a normal distribution. */
static double noise(uint64_t *seed)
{
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        sum += (double)(*seed >> 11) * 0x1p-53;
    }
    return sum - 2;
}

/* 0: more than the trial has. */
static double try_rows(const run_settings *settings)
{
    oif_pipeline *pipeline = NULL;
    uint64_t seed = 1;
    double rows = 0;
    if (oif_pipeline_new(&settings->params, 1, &settings->options, &pipeline, NULL) != OIF_OK)
        return 0;
    for (int i = 0; i < TRIAL_ROWS_MAX && rows == 0; i++) {
        const double row = noise(&seed);
        oif_result result;
        if (oif_pipeline_process_at(pipeline, NULL, 0, i * trial_step_seconds, &row, &result,
                                    NULL) != OIF_OK)
            break;
        if (result.ready)
            rows = i + 1;
    }
    oif_pipeline_free(pipeline);
    return rows;
}

/* Under the lock; false: there was no such trial. */
static bool find_trial(uint64_t hash, double *rows)
{
    for (size_t i = 0; i < TRIALS_KEPT; i++)
        if (trials[i].settings == hash) {
            *rows = trials[i].rows;
            return true;
        }
    return false;
}

void stream_count_needed(stream *one)
{
    if (!one->pipeline || oif_pipeline_memory_bytes(one->pipeline) > largest_trial_bytes)
        return;
    const uint64_t hash = hash_settings(&one->settings.cli);
    pthread_mutex_lock(&trials_lock);
    const bool is_known = find_trial(hash, &one->needed_rows);
    pthread_mutex_unlock(&trials_lock);
    if (is_known)
        return;
    const trial made = {hash, try_rows(&one->settings.cli)};
    pthread_mutex_lock(&trials_lock);
    trials[next_trial] = made;
    next_trial = (next_trial + 1) % TRIALS_KEPT;
    pthread_mutex_unlock(&trials_lock);
    one->needed_rows = made.rows;
}
